package interceptor

import (
	"context"
	"errors"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce/internal/current"
	"github.com/effectonce/effectonce/store"
)

type activityInbound struct {
	sdkinterceptor.ActivityInboundInterceptorBase
	ic  *Interceptor
	out activityOutbound
}

// call is one attempt of one action: an activity, or a sub-effect of one.
type call struct {
	ic       *Interceptor
	in       *sdkinterceptor.ExecuteActivityInput
	args     []any // what the key is about
	body     body
	info     activity.Info
	policy   *Policy
	request  store.Request
	deadline time.Time
	ran      bool // the body ran in this attempt
	shadowed bool // only watched
	out      *activityOutbound
	encoded  *commonpb.Payloads // what this attempt's body returned, once it is encoded
	subs     sync.Map           // keys of the sub-effects of this attempt
}

// insideKey marks a context below a shadow; below everything else is an action.
type insideKey struct{}

// body is what runs under a claim.
type body interface {
	ExecuteActivity(context.Context, *sdkinterceptor.ExecuteActivityInput) (any, error)
}

// inside reports whether an outer copy of this interceptor is at work.
func inside(ctx context.Context) bool {
	_, running := current.From(ctx)
	return running || ctx.Value(insideKey{}) != nil
}

// ExecuteActivity is the flow of one attempt.
func (a *activityInbound) ExecuteActivity(ctx context.Context, in *sdkinterceptor.ExecuteActivityInput) (any, error) {
	// 1. Pass through what is not ours: an inner copy of this interceptor, session
	// internals, activities without a policy.
	if inside(ctx) {
		return a.Next.ExecuteActivity(ctx, in)
	}
	info := activity.GetInfo(ctx)
	is, err := a.ic.classifyCall(ctx, info.ActivityType.Name, in.Args)
	if err != nil && a.ic.opts.Shadow {
		activity.GetLogger(ctx).Warn("effectonce: shadow: would be refused", "error", err)
		return a.Next.ExecuteActivity(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	if is.policy == nil {
		return a.Next.ExecuteActivity(ctx, in)
	}
	if a.ic.opts.Shadow {
		return a.shadow(context.WithValue(ctx, insideKey{}, true), &info, is, in)
	}

	// 2. Derive the identity before the body can touch its arguments.
	c, err := a.ic.derive(ctx, &info, is, in)
	if err != nil {
		return nil, err
	}
	c.body, c.out = a.Next, &a.out
	return c.answer(ctx)
}

// answer finds out what the action comes to: by running it, or from its record.
func (c *call) answer(ctx context.Context) (any, error) {
	// 3. Claim, or get what is there.
	start := time.Now()
	rec, err := c.claim(ctx)
	c.timed(ctx, metricClaimLatency, start)

	// 4. Decide, until there is something to hand out.
	p := c.policy
	for err == nil {
		d := decide(rec, situation{request: c.request, unknown: p.Unknown.kind, forget: p.ForgetAfterRetention, ran: c.ran})
		c.count(ctx, d, rec)
		switch d {
		case run: // 5 to 8
			result, refused, bodyErr := c.run(ctx, rec)
			if refused == nil {
				return result, bodyErr
			}
			rec = *refused // a waiter from here on
		case replay:
			return c.replay(ctx, rec)
		case adopt:
			c.adopt(rec)
		case claimAgain:
			c.request.Token = store.NewToken()
			rec, err = c.claim(ctx)
		case wait:
			rec, err = c.wait(ctx, rec)
		case takeOver:
			rec, err = c.takeOver(ctx, rec, false)
		case ask:
			rec, err = c.reconcile(ctx, rec)
		case reopen:
			rec, err = c.amend(ctx, rec, store.Change{Verb: store.Forget, Who: c.request.Who, Why: "retention over"})
		case held:
			return nil, c.errUnknown(rec, nil, p.HeldRetry, "held")
		case giveWay:
			return nil, c.errInFlight(rec, "this attempt lost its claim, and the action is open again")
		case mismatch:
			return nil, c.errMismatch(rec)
		case outcomeExpired:
			return nil, c.errExpired(rec)
		}
	}
	return nil, err
}

// claim asks for the action. An unreachable store is waited for inside the attempt,
// because attempts are a budget; the body does not run.
func (c *call) claim(ctx context.Context) (store.Record, error) {
	var rec store.Record
	err := c.persist(ctx, "claim", func(ctx context.Context) (err error) {
		if c.request.Remaining = time.Until(c.deadline); c.request.Remaining <= 0 {
			return context.DeadlineExceeded
		}
		rec, err = c.ic.store.Claim(ctx, c.request)
		return err
	})
	return rec, err
}

// adopt goes on with the record that this scheduled activity already has.
func (c *call) adopt(rec store.Record) {
	c.request.Ref = rec.Ref
	if rec.Fingerprint != (store.Digest{}) { // else it was forgotten: any input may follow
		c.request.Fingerprint, c.request.Fields = rec.Fingerprint, rec.Fields
	}
}

// takeOver claims an action whose outcome is unknown. excluded says that the effect
// of every earlier attempt is known not to have happened.
func (c *call) takeOver(ctx context.Context, seen store.Record, excluded bool) (store.Record, error) {
	c.request.Token, c.request.Excluded, c.request.Settle = store.NewToken(), excluded, c.ic.opts.Settle
	var rec store.Record
	err := c.persist(ctx, "take over", func(ctx context.Context) (err error) {
		if c.request.Remaining = time.Until(c.deadline); c.request.Remaining <= 0 {
			return context.DeadlineExceeded
		}
		rec, err = c.ic.store.TakeOver(ctx, c.request, seen)
		return ignoreConflict(err)
	})
	return rec, err
}

// amend changes a record on behalf of the reconciler or the retention.
func (c *call) amend(ctx context.Context, seen store.Record, change store.Change) (store.Record, error) {
	var rec store.Record
	err := c.persist(ctx, "amend", func(ctx context.Context) (err error) {
		rec, err = c.ic.store.Amend(ctx, seen, change)
		return ignoreConflict(err)
	})
	return rec, err
}

// ignoreConflict: somebody was faster, and the record as it is now came back.
func ignoreConflict(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// persist repeats op until the store gives a definite answer, as long as waiting
// makes sense.
func (c *call) persist(ctx context.Context, what string, op func(context.Context) error) error {
	until := c.waitUntil(time.Now())
	pause := newBackoff()
	for {
		if err := context.Cause(ctx); err != nil {
			return err // nothing may be started on a context that is done
		}
		err := op(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, store.ErrCorrupt):
			return c.errRecord(err)
		case definite(err):
			return c.errStore(what, err)
		}
		if !pause.fits(until) {
			return c.errStore(what, err)
		}
		activity.GetLogger(ctx).Warn("effectonce: store not available, waiting", "operation", what, "key", c.request.Key.String(), "error", err)
		c.keepAlive(ctx)
		if err := pause.sleep(ctx); err != nil {
			return err
		}
	}
}

// definite reports whether err is an answer of the store, not a lack of one.
func definite(err error) bool {
	for _, known := range []error{
		store.ErrNotFound, store.ErrLeaseLost, store.ErrConflict, store.ErrUnsettled, store.ErrInvalid, store.ErrCorrupt,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
