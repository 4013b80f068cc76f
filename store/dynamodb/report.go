package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Report implements [store.Store]. It is one write if this store has made the claim, and
// nobody has changed the record since; else a read comes before it.
func (s *Store) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if err := c.ValidateReport(held); err != nil {
		return store.Record{}, err
	}
	return s.report(ctx, held.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterReport(held, c, now)
	})
}

// Amend implements [store.Store]: a read and a write.
func (s *Store) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if err := c.ValidateAmend(seen); err != nil {
		return store.Record{}, err
	}
	return s.report(ctx, seen.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterAmend(seen, c, now)
	})
}

func (s *Store) report(ctx context.Context, ref store.Ref, c store.Change,
	after func(store.Record, time.Time) (store.Record, bool, error),
) (store.Record, error) {
	r, err := s.change(ctx, ref, after, func(row, store.Record) (store.Verb, string, string) { return c.Verb, c.Who, c.Why })
	return own(r), s.failed(fmt.Sprintf("%s %s", c.Verb, ref.Key), err)
}

// change does what the state machine says. What it says about a record as this store
// wrote it last counts only if the record still is so, which a write finds out.
func (s *Store) change(ctx context.Context, ref store.Ref,
	after func(store.Record, time.Time) (store.Record, bool, error),
	log func(prev row, next store.Record) (verb store.Verb, who, why string),
) (store.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return store.Record{}, err
	}
	defer cancel()
	prev, guessed := s.held.get(ref.Key)
	if guessed = guessed && prev.Ref == ref; !guessed {
		prev, err = s.read(ctx, ref)
	}
	for won := false; err == nil; guessed = false {
		next, changed, refusal := after(prev.Record, s.now())
		if guessed && (refusal != nil || !changed) {
			prev, err = s.read(ctx, ref)
			continue
		}
		if refusal != nil || !changed {
			return next, refusal
		}
		verb, who, why := log(prev, next)
		if prev, won, err = s.swap(ctx, prev, next, verb, who, why); won {
			return prev.Record, nil
		}
	}
	return store.Record{}, err
}

// atOnce is how many claims are renewed at a time.
const atOnce = 16

// Renew implements [store.Store]. Each claim is one write, as for Report.
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	gone, problems := make([]bool, len(held)), make([]error, len(held))
	spread(len(held), func(i int) { gone[i], problems[i] = s.renew(ctx, lease, held[i]) })
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for i, h := range held {
		if gone[i] {
			lost = append(lost, h)
		}
	}
	return lost, nil
}

func (s *Store) renew(ctx context.Context, lease time.Duration, held store.Claim) (lost bool, err error) {
	_, err = s.change(ctx, held.Ref, func(r store.Record, now time.Time) (next store.Record, changed bool, err error) {
		next, changed, lost = r.AfterRenew(held, lease, now)
		return next, changed, nil
	}, func(prev row, next store.Record) (verb store.Verb, who, why string) {
		if prev.LogRenewal(next.Now) {
			verb = store.Resumed
		}
		return verb, "", ""
	})
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return lost, s.failed("renew "+held.Key.String(), err)
}

// spread does f for 0 to n-1, some at once.
func spread(n int, f func(i int)) {
	next := make(chan int)
	over := make(chan struct{})
	workers := min(n, atOnce)
	for range workers {
		go func() {
			for i := range next {
				f(i)
			}
			over <- struct{}{}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		<-over
	}
}
