package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	// A later attempt mostly finds an outcome, and needs no lock to read it.
	if q.Attempt > 1 {
		if r, ok, err := s.answered(ctx, q); ok || err != nil {
			return r, s.explain(fmt.Sprintf("claim %s", q.Key), err)
		}
	}
	return s.change(ctx, "claim", q.Ref, func(t tx) (store.Record, error) {
		now := now()
		r := q.First(now)
		if written, err := t.first(r, q.Who); written || err != nil {
			return r, err
		}
		if other, ok, err := t.otherOf(q, now); ok || err != nil {
			return other, err
		}
		prev, err := t.record(q.Ref, now)
		if err != nil {
			return store.Record{}, err
		}
		next, changed := prev.AfterClaim(q, now)
		if !changed {
			return next, nil
		}
		return next, t.claimed(prev, next, store.Claimed, q.Who)
	})
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	return s.change(ctx, "take over", q.Ref, func(t tx) (store.Record, error) {
		now := now()
		prev, err := t.record(q.Ref, now)
		if err != nil {
			return store.Record{}, err
		}
		if other, ok, err := t.otherOf(q, now); ok || err != nil {
			return other, errors.Join(err, store.ErrConflict)
		}
		next, changed, err := prev.AfterTakeOver(q, seen, now)
		if !changed {
			return next, err
		}
		return next, t.claimed(prev, next, store.TookOver, q.Who)
	})
}

// Report implements [store.Store].
func (s *Store) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if err := c.ValidateReport(held); err != nil {
		return store.Record{}, err
	}
	return s.transition(ctx, held.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterReport(held, c, now)
	})
}

// Amend implements [store.Store].
func (s *Store) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if err := c.ValidateAmend(seen); err != nil {
		return store.Record{}, err
	}
	return s.transition(ctx, seen.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterAmend(seen, c, now)
	})
}

func (s *Store) transition(ctx context.Context, ref store.Ref, c store.Change,
	after func(store.Record, time.Time) (store.Record, bool, error),
) (store.Record, error) {
	return s.change(ctx, string(c.Verb), ref, func(t tx) (store.Record, error) {
		now := now()
		prev, err := t.record(ref, now)
		if err != nil {
			return store.Record{}, err
		}
		next, changed, err := after(prev.Record, now)
		if !changed {
			return next, err
		}
		return next, t.changed(prev, next, c.Verb, c.Who, c.Why)
	})
}

// change has the writer do f, and returns what f returned once it is on disk.
func (s *Store) change(ctx context.Context, verb string, ref store.Ref, f func(tx) (store.Record, error)) (r store.Record, err error) {
	err = s.writer.do(ctx, func(t tx) (err error) {
		r, err = f(t)
		return err
	})
	if err != nil && !refused(err) {
		r = store.Record{}
	}
	return own(r), s.explain(fmt.Sprintf("%s %s", verb, ref.Key), err)
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	err = s.writer.do(ctx, func(t tx) error {
		var unreadable error
		lost = nil
		now := now()
		for _, h := range held {
			prev, err := t.record(h.Ref, now)
			next, changed, gone := prev.AfterRenew(h, lease, now)
			switch {
			case errors.Is(err, store.ErrNotFound), err == nil && gone:
				lost = append(lost, h)
			case errors.Is(err, store.ErrCorrupt):
				unreadable = err // not a loss, and no reason to let the others go
			case err != nil:
				return err
			case changed:
				if err := t.renewed(prev, next); err != nil {
					return err
				}
			}
		}
		return unreadable
	})
	if err != nil {
		lost = nil
	}
	return lost, s.explain("renew", err)
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	r, err := s.get(ctx, ref)
	return r.Record, s.explain(fmt.Sprintf("get %s", ref.Key), err)
}

func (s *Store) get(ctx context.Context, ref store.Ref) (row, error) {
	if ctx.Err() != nil {
		return row{}, context.Cause(ctx)
	}
	// A look-up by index is over before a context could interrupt it.
	now := now()
	rows, err := s.byRef.QueryContext(context.WithoutCancel(ctx), ref.Root[:], ref.Key[:])
	return one(rows, err, now)
}

// answered returns the answer to a claim that changes nothing, from what is on disk.
func (s *Store) answered(ctx context.Context, q store.Request) (store.Record, bool, error) {
	if q.Scheduled != (store.Digest{}) {
		if ctx.Err() != nil {
			return store.Record{}, false, context.Cause(ctx)
		}
		now := now()
		rows, err := s.byScheduled.QueryContext(context.WithoutCancel(ctx), q.Scheduled[:])
		other, err := one(rows, err, now)
		if err == nil && other.Ref != q.Ref || err != nil && !errors.Is(err, store.ErrNotFound) {
			return other.Record, err == nil, err
		}
	}
	r, err := s.get(ctx, q.Ref)
	if errors.Is(err, store.ErrNotFound) {
		return store.Record{}, false, nil
	}
	_, changes := r.AfterClaim(q, r.Now)
	return r.Record, err == nil && !changes, err
}
