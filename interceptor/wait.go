package interceptor

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/internal/current"
	"github.com/effectonce/effectonce/store"
)

// waitUntil is until when an attempt that started to wait at start may do so:
// shortly before its deadline, or for the policy's Wait. The last attempt waits as
// long as it can, for after it there is nobody left to wait.
func (c *call) waitUntil(start time.Time) time.Time {
	end := c.deadline.Add(-min(500*time.Millisecond, c.deadline.Sub(start)/10))
	last := c.info.RetryPolicy != nil && c.info.RetryPolicy.MaximumAttempts > 0 && c.info.Attempt >= c.info.RetryPolicy.MaximumAttempts
	if limit := start.Add(c.policy.Wait); c.policy.Wait > 0 && !last && limit.Before(end) {
		return limit
	}
	return end
}

// wait watches the record until somebody else's work on it has ended.
func (c *call) wait(ctx context.Context, rec store.Record) (store.Record, error) {
	until := c.waitUntil(time.Now())
	pause := newBackoff()
	hints, stop := c.hints(ctx)
	defer stop()
	for {
		if !pause.fits(until) {
			return rec, c.errInFlight(rec, "another attempt is at work")
		}
		c.keepAlive(ctx)
		if err := pause.sleepUnless(ctx, hints); err != nil {
			return rec, err
		}
		now, err := c.ic.store.Get(ctx, c.request.Ref)
		switch {
		case errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound):
			return rec, c.errRecord(err)
		case err != nil:
			continue // no answer is no news
		}
		if rec = now; !rec.Live() || rec.Token == c.request.Token && !c.ran {
			return rec, nil
		}
	}
}

// hints says when to look again, if the store can tell.
func (c *call) hints(ctx context.Context) (<-chan struct{}, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if n, ok := c.ic.store.(store.Notifier); ok {
		return n.Watch(ctx, c.request.Ref), stop
	}
	return nil, stop
}

// reconcile asks the outside system what became of the action.
func (c *call) reconcile(ctx context.Context, rec store.Record) (store.Record, error) {
	q := Question{
		Key: rec.Key.Downstream(rec.Generation), Operation: c.policy.Operation, Generation: rec.Generation,
		Args: c.args, Since: rec.Created,
	}
	asking := current.With(ctx, current.Action{Key: rec.Key, Generation: rec.Generation, Fence: rec.Fence})
	q.UUID = effectonce.Current(asking).UUID()
	answer, err := c.policy.Unknown.ask(asking, q)
	switch {
	case err != nil:
		return rec, c.errUnknown(rec, err, c.policy.HeldRetry, "asking the outside system failed")
	case answer.verdict == applied:
		found, err := c.encodeResult(ctx, answer.result)
		if err != nil { // the outside system can be asked again
			return rec, c.errUnknown(rec, err, c.policy.HeldRetry, "applied, but the result cannot be recorded")
		}
		return c.amend(ctx, rec, store.Change{Verb: store.Complete, Outcome: found, Who: c.request.Who, Why: "reconciled: applied"})
	case answer.verdict == cannotTell:
		return rec, c.errUnknown(rec, nil, c.policy.HeldRetry, "the outside system cannot tell: "+answer.why)
	}
	// Not applied. That counts only if it was asked after every earlier request
	// could have arrived; the record was read before we asked.
	settled := rec.SettledAt(c.ic.opts.Settle)
	if !rec.Now.Before(settled) {
		return c.takeOver(ctx, rec, true)
	}
	left := settled.Sub(rec.Now)
	if !time.Now().Add(left).Before(c.waitUntil(time.Now())) {
		return rec, c.errUnknown(rec, nil, min(left, c.policy.HeldRetry), "not applied so far, but the request may still arrive")
	}
	return c.settle(ctx, rec, left)
}

// settle waits inside the attempt until the record may be believed, then reads it
// again, so that the question is asked once more.
func (c *call) settle(ctx context.Context, rec store.Record, left time.Duration) (store.Record, error) {
	for end := time.Now().Add(left); ; {
		c.keepAlive(ctx)
		step := min(time.Until(end), time.Second)
		if step <= 0 {
			break
		}
		if err := sleep(ctx, step); err != nil {
			return rec, err
		}
	}
	var now store.Record
	err := c.persist(ctx, "read", func(ctx context.Context) (err error) {
		now, err = c.ic.store.Get(ctx, c.request.Ref)
		return err
	})
	return now, err
}

// backoff spaces polls: 20 ms, growing by half to 1 s, with jitter, so that waiters
// do not march in step.
type backoff struct{ next time.Duration }

func newBackoff() backoff { return backoff{next: 20 * time.Millisecond} }

// fits reports whether another pause ends before until.
func (b *backoff) fits(until time.Time) bool { return time.Now().Add(b.next).Before(until) }

func (b *backoff) sleep(ctx context.Context) error { return b.sleepUnless(ctx, nil) }

// sleepUnless is a pause that a hint cuts short.
func (b *backoff) sleepUnless(ctx context.Context, hints <-chan struct{}) error {
	pause := b.next*3/4 + rand.N(b.next/4)
	b.next = min(b.next*3/2, time.Second)
	return sleepUnless(ctx, pause, hints)
}

// sleep waits for d, or returns why ctx is done.
func sleep(ctx context.Context, d time.Duration) error { return sleepUnless(ctx, d, nil) }

func sleepUnless(ctx context.Context, d time.Duration, hints <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	case <-hints:
	}
	return nil
}
