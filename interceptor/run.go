package interceptor

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/effectonce/effectonce/internal/commit"
	"github.com/effectonce/effectonce/internal/current"
	"github.com/effectonce/effectonce/store"
)

// run runs the body under the claim of rec and records what became of it. If the
// record is not ours any more, it returns the record as it is now instead.
func (c *call) run(ctx context.Context, rec store.Record) (result any, refused *store.Record, err error) {
	c.ran = true
	held := rec.Claim()
	if err := context.Cause(ctx); err != nil {
		// Too late to start. Nothing was sent: the next attempt may go on at once.
		_, reportErr := c.report(ctx, held, store.Change{Verb: store.Release, Who: c.request.Who, Why: "not started"})
		if reportErr != nil {
			err = errors.Join(err, reportErr)
		}
		return nil, nil, err
	}

	// 5. Run the body, with the lease renewed until its outcome is recorded.
	bodyCtx, r := c.start(ctx, rec)
	defer r.end()
	result, err = c.body.ExecuteActivity(bodyCtx, c.in)
	committed, failed := r.commits.say()
	if committed != nil { // by the body itself: classified, recorded and counted
		result, err = r.handOutCommitted(ctx, committed, err)
		return result, nil, err
	}
	err = r.uncommitted(ctx, failed, err)

	// 6. Classify and encode, before anything is recorded.
	end := classify(c.policy, result, err, ctx.Err() != nil)
	if end.verb == store.Fail {
		end.err = c.encodable(end.err)
	}
	change := c.change(ctx, end)
	r.concluded = true

	// 7. Record.
	start := time.Now()
	now, err := c.report(ctx, held, change)
	c.timed(ctx, metricRecordLatency, start)
	if errors.Is(err, store.ErrUnsettled) {
		// "It did not happen" holds for this attempt's request only: that of an
		// earlier one may still arrive.
		unsure := store.Change{Verb: store.MarkUnknown, Who: c.request.Who, Why: "not applied, but an earlier attempt is not settled"}
		if now, err = c.report(ctx, held, unsure); err == nil {
			return nil, nil, c.errUnknown(now, end.err, now.SettledAt(c.ic.opts.Settle).Sub(now.Now), "an earlier attempt's request may still arrive")
		}
	}
	switch {
	case errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrConflict):
		refused := now // the record of every attempt would be on the heap otherwise
		return nil, &refused, nil
	case err != nil:
		activity.GetLogger(ctx).Error("effectonce: outcome not recorded", "key", rec.Key.String(), "outcome", string(end.verb), "error", err)
		return nil, nil, c.errUnknown(rec, errors.Join(end.err, err), 0, "what the body did could not be recorded")
	}

	// 8. Hand out: what is recorded, or the body's own error value.
	switch {
	case end.verb == store.Complete:
		result, err = c.handOut(ctx, now, change.Outcome)
		return result, nil, err
	case end.verb == store.MarkUnknown && !end.untouched:
		return nil, nil, c.errUnknown(now, end.err, c.unknownRetry(), "the body failed without saying whether the effect happened")
	}
	return nil, nil, end.err
}

// change is how a conclusion is reported.
func (c *call) change(ctx context.Context, end conclusion) store.Change {
	change := store.Change{Verb: end.verb, Settle: c.ic.opts.Settle, Who: c.request.Who}
	switch end.verb {
	case store.Complete:
		o, err := c.encodeResult(ctx, end.result)
		if err != nil {
			o = lost(err) // nobody else has the result
		}
		change.Outcome = o
	case store.Fail:
		change.Outcome = c.encodeFailure(end.err)
	case store.Suspend:
		change.For = c.policy.Pending
	}
	return change
}

var _ current.Attempt = (*running)(nil)

// running is a call whose body runs, as the body may use it.
type running struct {
	*call
	action    current.Carrier // the attempt's context, with what the body may know
	held      holding         // its claim, and how the body is cancelled
	concluded bool            // what is to be recorded is known
	commits   commits
}

// start returns the context for the body, and has the lease renewed until end. A renewal
// that fails is not a loss: the body is cancelled only if the store says that the claim
// is gone.
func (c *call) start(ctx context.Context, rec store.Record) (context.Context, *running) {
	r := &running{call: c}
	r.action = current.Carrier{Context: ctx, Action: current.Action{Key: rec.Key, Generation: rec.Generation, Fence: rec.Fence, Attempt: r}}
	ctx = &r.action
	if _, able := c.ic.store.(store.Transactor); able {
		ctx = commit.With(ctx, r.commit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r.held = holding{claim: rec.Claim(), until: c.deadline.Add(c.policy.Lease), lost: cancel}
	c.ic.renewals.keep(&r.held, c.policy.Lease)
	return ctx, r
}

// end ends the lease's renewal. A body or Veto that panics or exits its goroutine leaves
// the outcome unknown; the panic goes on untouched.
func (r *running) end() {
	defer r.held.lost(nil)
	defer r.ic.renewals.release(&r.held)
	if committed, _ := r.commits.say(); r.concluded || committed != nil {
		return
	}
	_, err := r.report(r.action.Context, r.held.claim, store.Change{Verb: store.MarkUnknown, Who: r.request.Who, Why: "the body panicked"})
	if err != nil {
		activity.GetLogger(r.action.Context).Error("effectonce: panic not recorded; the lease will end", "key", r.held.claim.Key.String(), "error", err)
	}
}

// unknownRetry is when the next attempt may do something about an unknown outcome:
// at once by the activity's own retry policy, unless it can only be held.
func (c *call) unknownRetry() time.Duration {
	if c.policy.Unknown.kind == hold {
		return c.policy.HeldRetry
	}
	return 0
}

// report records a change of our own claim. It outlives the attempt's cancellation
// and deadline, because the effect does too, and is repeated until there is a
// definite answer or RecordTimeout is over.
func (c *call) report(ctx context.Context, held store.Claim, change store.Change) (store.Record, error) {
	ctx = c.ic.reports.Of(ctx)
	pause := newBackoff()
	for {
		rec, err := c.ic.store.Report(ctx, held, change)
		if err == nil || definite(err) {
			return rec, err
		}
		if pause.sleep(ctx) != nil {
			return rec, err
		}
	}
}
