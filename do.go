package effectonce

import (
	"context"

	"github.com/effectonce/effectonce/internal/current"
)

// Do runs fn as a sub-effect of the running action: one item of a batch, one of
// several requests. It is claimed and recorded like an action of its own, below the
// activity's key, so that an attempt that goes on after a crash skips what is done.
//
//	for _, item := range batch {
//		receipt, err := effectonce.Do(ctx, "pay", item, func(ctx context.Context) (Receipt, error) {
//			return payments.Pay(ctx, effectonce.Current(ctx).Key(), item) // the item's key
//		})
//		if err != nil {
//			return err
//		}
//	}
//
// Name the operation in the policy's SubEffects, which says what may happen when
// nobody knows whether fn took effect. The activity itself should be Rerun: what it
// repeats is answered from the records.
//
// Input tells the sub-effects of one operation apart; the same operation and input
// twice in one attempt is an error, unless the first try failed. The marks
// ([NotApplied], [Final], …) mean for fn what they mean for a body. On an error of
// this package (types ErrType…) return it as it is: Temporal then waits as long as it
// says. Do may be called from several goroutines at once. Without the interceptor it
// only calls fn.
func Do[T any](ctx context.Context, operation string, input any, fn func(context.Context) (T, error)) (T, error) {
	var result T
	a, ok := current.From(ctx)
	if !ok || a.Attempt == nil {
		return fn(ctx)
	}
	err := a.Attempt.Sub(ctx, operation, input, func(ctx context.Context) (any, error) { return fn(ctx) }, &result)
	return result, err
}
