package interceptor

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// shadowTimeout bounds what a shadow does in the store, for each call.
const shadowTimeout = 10 * time.Second

// shadow runs the body as Temporal would, and records beside it what effectonce would
// have decided: under keys of its own, so that enforcing later starts afresh. It never
// answers, never refuses, and never lets the body wait for the store.
func (a *activityInbound) shadow(ctx context.Context, info *activity.Info, is classified, in *sdkinterceptor.ExecuteActivityInput) (any, error) {
	var c *call
	err := quietly(func() (err error) { c, err = a.ic.derive(ctx, info, is, in); return err })
	if err == nil {
		c.request.ScopeKind = "shadow:" + c.request.ScopeKind
		c.request.Scheduled = store.Digest{} // drift is for records that answer
		c.request.Lease += time.Until(c.deadline)
		c.request.Key, err = key.Digest("effectonce/shadow", c.request.Key.String())
	}
	if err != nil {
		activity.GetLogger(ctx).Warn("effectonce: shadow: would be refused", "error", err)
		return a.Next.ExecuteActivity(ctx, in)
	}
	verb := store.MarkUnknown // what a panic leaves behind
	done := make(chan struct{})
	a.ic.shadows.Go(func() { c.follow(context.WithoutCancel(ctx), done, &verb) })
	defer close(done)
	result, err := a.Next.ExecuteActivity(ctx, in)
	_ = quietly(func() error { verb = classify(c.policy, result, err, ctx.Err() != nil).verb; return nil })
	return result, err
}

// quietly calls what belongs to a policy. Its panic is not the activity's.
func quietly(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the policy panicked: %v", p)
		}
	}()
	return f()
}

// follow claims while the body runs, and reports verb once it is done.
func (c *call) follow(ctx context.Context, done <-chan struct{}, verb *store.Verb) {
	bounded, cancel := context.WithTimeout(ctx, shadowTimeout)
	defer cancel()
	c.request.Remaining = max(time.Until(c.deadline), time.Millisecond)
	rec, err := c.ic.store.Claim(bounded, c.request)
	if err != nil {
		activity.GetLogger(ctx).Warn("effectonce: shadow: not claimed", "key", c.request.Key.String(), "error", err)
		return
	}
	d := decide(rec, situation{request: c.request, unknown: c.policy.Unknown.kind, forget: c.policy.ForgetAfterRetention})
	c.shadowed = true
	c.count(ctx, d, rec)
	if d != run {
		return
	}
	<-done
	change := store.Change{Verb: *verb, Settle: c.ic.opts.Settle, For: c.policy.Pending, Who: c.request.Who, Why: "shadow"}
	switch change.Verb {
	case store.Complete, store.Fail:
		change.Outcome = &store.Outcome{Format: outcome.Shadow}
	}
	if change.Verb != store.Suspend {
		change.For = 0
	}
	reporting, cancelReport := context.WithTimeout(ctx, shadowTimeout)
	defer cancelReport()
	if _, err := c.ic.store.Report(reporting, rec.Claim(), change); err != nil {
		activity.GetLogger(ctx).Warn("effectonce: shadow: not recorded", "key", c.request.Key.String(), "error", err)
	}
}
