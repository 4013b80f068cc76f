// Package memory keeps records in the memory of one process. It is the reference
// implementation of [store.Store]: the pure state machine under a lock.
//
//	s := memory.New(memory.Options{})
//
// # Promises
//
// It keeps every promise of package store except the one that matters most: a
// process that ends takes its records with it. Use it for tests, and for trying
// things out. It never deletes a record, so its size is that of all actions ever
// asked for; outcomes go when their retention is over and Expire is called.
//
// Given the same calls and the same clock it always answers the same.
//
// # Errors
//
// Those of package store, and the cause of a context that is done. ErrCorrupt
// does not occur, and no answer is ambiguous: a call with a context that is done
// changes nothing.
//
// # Clock and concurrency
//
// The clock is injected, for tests; it defaults to the clock of the process. All
// methods are safe for concurrent use. No slice is shared with a caller.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/effectonce/effectonce/store"
)

var (
	_ store.Store     = (*Store)(nil)
	_ store.Lister    = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Janitor   = (*Store)(nil)
)

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Clock is what decides leases and retention. Default [time.Now].
	Clock func() time.Time
}

// Store keeps records in memory; see [New].
type Store struct {
	clock func() time.Time

	mu        sync.Mutex
	records   map[store.Ref]store.Record
	scheduled map[store.Digest]store.Ref // which record a scheduled activity claimed last
	history   map[store.Ref][]store.Entry
}

// New returns an empty store.
func New(opts Options) *Store {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Store{
		clock:     opts.Clock,
		records:   map[store.Ref]store.Record{},
		scheduled: map[store.Digest]store.Ref{},
		history:   map[store.Ref][]store.Entry{},
	}
}

// now is in whole microseconds, as in every store: a record is equal to itself
// before and after it was kept.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	if err := s.lock(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.mu.Unlock()
	now := s.now()
	if other, ok := s.otherOf(q, now); ok {
		return other, nil
	}
	prev, ok := s.records[q.Ref]
	if !ok {
		return s.put(nil, q.First(now), store.Claimed, q.Who, ""), nil
	}
	next, changed := prev.AfterClaim(q, now)
	if !changed {
		return own(next), nil
	}
	return s.put(&prev, next, store.Claimed, q.Who, ""), nil
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	if err := s.lock(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.mu.Unlock()
	now := s.now()
	prev, ok := s.records[q.Ref]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	if other, ok := s.otherOf(q, now); ok {
		return other, store.ErrConflict
	}
	next, changed, err := prev.AfterTakeOver(q, seen, now)
	if !changed {
		return own(next), err
	}
	return s.put(&prev, next, store.TookOver, q.Who, ""), nil
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	for _, h := range held {
		prev, ok := s.records[h.Ref]
		next, changed, gone := prev.AfterRenew(h, lease, now)
		switch {
		case !ok || gone:
			lost = append(lost, h)
		case changed && prev.LogRenewal(now):
			s.put(&prev, next, store.Resumed, "", "")
		case changed:
			s.records[h.Ref] = next
		}
	}
	return lost, nil
}

// Report implements [store.Store].
func (s *Store) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if err := c.ValidateReport(held); err != nil {
		return store.Record{}, err
	}
	return s.change(ctx, held.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterReport(held, c, now)
	})
}

// Amend implements [store.Store].
func (s *Store) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if err := c.ValidateAmend(seen); err != nil {
		return store.Record{}, err
	}
	return s.change(ctx, seen.Ref, c, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterAmend(seen, c, now)
	})
}

func (s *Store) change(ctx context.Context, ref store.Ref, c store.Change,
	after func(store.Record, time.Time) (store.Record, bool, error),
) (store.Record, error) {
	if err := s.lock(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.mu.Unlock()
	prev, ok := s.records[ref]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	next, changed, err := after(prev, s.now())
	if !changed {
		return own(next), err
	}
	return s.put(&prev, next, c.Verb, c.Who, c.Why), nil
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	if err := s.lock(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.mu.Unlock()
	r, ok := s.records[ref]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	r.Now = s.now()
	return own(r), nil
}

// lock takes the lock, unless ctx is done by the time that it has it.
func (s *Store) lock(ctx context.Context) error {
	s.mu.Lock()
	if ctx.Err() != nil {
		s.mu.Unlock()
		return context.Cause(ctx)
	}
	return nil
}

// otherOf returns the record that q's scheduled activity claimed, if it is another
// one than q asks for.
func (s *Store) otherOf(q store.Request, now time.Time) (store.Record, bool) {
	ref, ok := s.scheduled[q.Scheduled] // never holds the zero digest
	if !ok || ref == q.Ref {
		return store.Record{}, false
	}
	r := s.records[ref]
	r.Now = now
	return own(r), true
}

// put keeps next and its line of history, and returns a copy for the caller.
func (s *Store) put(prev *store.Record, next store.Record, verb store.Verb, who, why string) store.Record {
	next = own(next)
	if prev != nil && prev.Scheduled != next.Scheduled {
		delete(s.scheduled, prev.Scheduled)
	}
	if next.Scheduled != (store.Digest{}) {
		s.scheduled[next.Scheduled] = next.Ref
	}
	s.records[next.Ref] = next
	s.history[next.Ref] = append(s.history[next.Ref], next.Log(prev, verb, who, why))
	return own(next)
}
