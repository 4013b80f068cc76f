// Package effectonce is what activity bodies and workflows say and ask about
// actions: side effects that happen once, however often they are asked for.
//
//	func (a *Activities) Refund(ctx context.Context, in RefundInput) (Receipt, error) {
//		receipt, err := a.payments.Refund(ctx, effectonce.Current(ctx).Key(), in)
//		if errors.Is(err, payments.ErrDeclined) {
//			return Receipt{}, effectonce.NotApplied(err) // it did not happen: may be tried again
//		}
//		return receipt, err // anything else may have happened: the policy decides
//	}
//
// The worker needs the interceptor of package interceptor; bodies and workflows
// need only this package, and run without the interceptor too.
//
// # Promises
//
// [Current] gives every attempt of one action the same key, over retries, crashes
// and workflow resets. A mark ([NotApplied], [Unknown], [Final], [Applied]) does
// not change the error that a workflow sees. What a workflow says with
// [WithTenant], [WithAgent], [WithIntent] and [WithActionID] is sent in headers,
// unencrypted: use opaque IDs, no personal data.
//
// # Errors
//
// An activity that effectonce stops fails with a *temporal.ApplicationError whose
// type is one of the constants ErrType…; each says whether it is retried.
//
// # Concurrency
//
// All functions are safe for concurrent use; those that take a workflow.Context
// are deterministic and may be called from workflow code.
package effectonce
