package interceptor

import (
	"context"
	"crypto/sha256"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// scopeAction is the kind of scope of sub-effects; its ID is the downstream key of
// the action they belong to, so that an intended re-run of it does them again.
const scopeAction = "action"

// Sub is what effectonce.Do calls in the body.
func (r *running) Sub(ctx context.Context, operation string, input any, fn func(context.Context) (any, error), into any) error {
	s, err := r.deriveSub(operation, input)
	if err != nil {
		return err
	}
	s.body = part(fn)
	result, err := s.answer(ctx)
	if err != nil {
		r.subs.Delete(s.request.Key) // the body may try again
		return err
	}
	return s.decode(ctx, result, into)
}

// part is the body of a sub-effect.
type part func(context.Context) (any, error)

// ExecuteActivity runs the part.
func (p part) ExecuteActivity(ctx context.Context, _ *sdkinterceptor.ExecuteActivityInput) (any, error) {
	return p(ctx)
}

// deriveSub returns the call of a sub-effect.
func (r *running) deriveSub(operation string, input any) (*call, error) {
	refuse := func(final bool, format string, args ...any) error {
		return errRefused(r.policy.Operation+"/"+operation, effectonce.ErrTypeInput, final, format, args...)
	}
	unknown, ok := r.policy.SubEffects[operation]
	if !ok {
		return nil, refuse(false, "the policy's SubEffects has no entry for the operation %q", operation)
	}
	args, err := payload.Args([]any{input})
	if err != nil {
		return nil, refuse(true, "%v", err)
	}
	text, err := canon.Value(nil, args)
	if err != nil {
		return nil, refuse(true, "%v", err)
	}
	k, err := key.Identity{
		Namespace: r.request.Namespace, ScopeKind: scopeAction, ScopeID: r.held.claim.Key.Downstream(r.action.Action.Generation),
		Operation: operation, Input: text,
	}.Key()
	if err != nil {
		return nil, refuse(true, "%v", err)
	}
	if _, twice := r.subs.LoadOrStore(k, true); twice {
		return nil, refuse(true, "the operation %q was done with this input before in this attempt; what tells the two apart must be in the input", operation)
	}
	p := *r.policy
	p.Operation, p.Unknown, p.Veto = operation, unknown, nil
	s := &call{
		ic: r.ic, out: r.out, info: r.info, policy: &p, deadline: r.deadline,
		in: &sdkinterceptor.ExecuteActivityInput{}, args: []any{input}, request: r.request,
	}
	s.request.Key, s.request.Fingerprint, s.request.Fields = k, sha256.Sum256(text), nil
	s.request.ScopeKind, s.request.ScopeID = scopeAction, r.held.claim.Key.Downstream(r.action.Action.Generation)
	s.request.Operation, s.request.Intent = operation, ""
	s.request.Token, s.request.Scheduled = store.NewToken(), store.Digest{}
	return s, nil
}

// decode puts what a sub-effect comes to into a pointer.
func (c *call) decode(ctx context.Context, result, into any) error {
	if result == nil {
		return nil
	}
	dc := c.dataConverter(ctx, contextOf(c.info))
	payloads, ok := result.(*commonpb.Payloads)
	if raw, plain := result.(converter.RawValue); plain {
		encoded, err := dc.ToPayloads(raw)
		if err != nil {
			return c.errRecord(err)
		}
		payloads, ok = encoded, true
	}
	if !ok {
		return c.errRecord(fmt.Errorf("a result of type %T", result))
	}
	if err := dc.FromPayloads(payloads, into); err != nil {
		return c.errRecord(fmt.Errorf("decode the recorded result: %w", err))
	}
	return nil
}
