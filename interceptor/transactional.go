package interceptor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.temporal.io/sdk/activity"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/store"
)

// Transactional is for bodies whose whole effect is rows in the records' own database.
// They end with CommitTx of package postgres or sqlite, which commits the rows and the
// outcome together:
//
//	tx, err := pool.Begin(ctx)
//	…
//	defer tx.Rollback(ctx)
//	… // the rows
//	return receipt, records.CommitTx(ctx, tx, receipt)
//
// So nothing is ever unknown: either both are there, or neither, and an attempt that
// was taken over cannot commit any more. A body that fails, panics or dies has done
// nothing, and runs again at once, or when its lease is over. Once committed, the
// outcome is handed out whatever the body returns.
//
// A body that returns without CommitTx is recorded like any other, and logged as an
// error: a crash before that would have run it twice. One that succeeds although
// CommitTx failed has failed. What else the body does, outside the transaction, may
// happen more than once. The store must be a [store.Transactor].
func Transactional() Unknown { return Unknown{kind: transactional} }

// commits is what a body did with CommitTx.
type commits struct {
	mu      sync.Mutex
	outcome *store.Outcome // what is committed
	failed  error          // why the last try is not
}

func (c *commits) say() (*store.Outcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outcome, c.failed
}

// commit is what CommitTx calls in the body.
func (r *running) commit(ctx context.Context, result any, write func(store.Claim, store.Change) error) error {
	o, err := r.committable(ctx, result)
	if err == nil {
		err = write(r.held.claim, store.Change{Verb: store.Complete, Outcome: o, Who: r.request.Who, Why: "in the body's transaction"})
	}
	r.commits.mu.Lock()
	defer r.commits.mu.Unlock()
	if err != nil {
		r.commits.failed = err
		return err
	}
	r.commits.outcome = o
	r.ic.renewals.release(&r.held) // a renewal would be told that the claim is gone
	return nil
}

// committable encodes a result. Nothing has happened yet: what could not be handed out
// is refused.
func (r *running) committable(ctx context.Context, result any) (*store.Outcome, error) {
	if r.policy.Veto != nil {
		if err := r.policy.Veto(result); err != nil {
			return nil, err
		}
	}
	of := &call{ic: r.ic, info: r.info, policy: r.policy} // the body may still be at work on its own
	o, err := of.encodeResult(ctx, result)
	switch {
	case err != nil:
		return nil, err
	case o.Format == outcome.Lost:
		return nil, fmt.Errorf("the result cannot be encoded: %s", o.Data)
	case r.tooLarge(o) != nil:
		return nil, fmt.Errorf("the result of %d bytes exceeds the limit of %d", len(o.Data), r.ic.opts.MaxResultBytes)
	}
	return o, nil
}

// handOutCommitted hands out what the body has committed, whatever it returned.
func (r *running) handOutCommitted(ctx context.Context, o *store.Outcome, bodyErr error) (any, error) {
	if bodyErr != nil {
		activity.GetLogger(ctx).Warn("effectonce: the body failed after CommitTx: its outcome stands",
			"activity", r.info.ActivityType.Name, "key", r.held.claim.Key.String(), "error", bodyErr)
	}
	return r.replay(ctx, store.Record{Ref: r.held.claim.Ref, Outcome: o})
}

// uncommitted returns the error of a body that has committed nothing. Under
// Transactional, a success must have been committed.
func (r *running) uncommitted(ctx context.Context, failed, bodyErr error) error {
	if bodyErr != nil || r.policy.Unknown.kind != transactional {
		return bodyErr
	}
	say := "effectonce: the body of a Transactional policy returned without CommitTx: its rows and its outcome are not one transaction"
	if failed != nil {
		say = "effectonce: the body succeeded although CommitTx failed: it counts as failed"
	}
	activity.GetLogger(ctx).Error(say, "activity", r.info.ActivityType.Name, "operation", r.policy.Operation,
		"key", r.held.claim.Key.String(), "error", failed)
	return failed
}

// transactional returns where a policy says Transactional.
func (o Options) transactional() (where []string) {
	add := func(what string, policies map[string]Policy) {
		for _, name := range slices.Sorted(maps.Keys(policies)) {
			p := policies[name]
			if p.Unknown.kind == transactional {
				where = append(where, fmt.Sprintf("%s %q", what, name))
			}
			for _, operation := range slices.Sorted(maps.Keys(p.SubEffects)) {
				if p.SubEffects[operation].kind == transactional {
					where = append(where, fmt.Sprintf("%s %q: SubEffects[%q]", what, name, operation))
				}
			}
		}
	}
	add("policy of", o.Policies)
	for _, activityType := range slices.Sorted(maps.Keys(o.Multiplexers)) {
		add(fmt.Sprintf("multiplexer %q: tool", activityType), o.Multiplexers[activityType].Policies)
	}
	return where
}
