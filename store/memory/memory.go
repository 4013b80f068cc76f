// Package memory keeps records in the memory of one process. It is the reference
// implementation of [store.Store]: the pure state machine under a lock.
//
//	s := memory.New(memory.Options{})
//
// # Promises
//
// It keeps every promise of package store except the one that matters most: a
// process that ends takes its records with it. Use it for tests, and for trying
// things out. Only Prune deletes records, so its size is that of all actions ever
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
	clock   func() time.Time
	shards  [shards]shard
	indexes [shards]index
}

// New returns an empty store.
func New(opts Options) *Store {
	s := &Store{clock: opts.Clock}
	if s.clock == nil {
		s.clock = time.Now
	}
	for i := range shards {
		s.shards[i].rows = map[store.Ref]*row{}
		s.indexes[i].claimed = map[store.Digest]*row{}
	}
	return s
}

// now is in whole microseconds, as in every store: a record is equal to itself
// before and after it was kept.
func (s *Store) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	x := s.indexOf(q)
	if err := lock(ctx, &x.mu); err != nil {
		return store.Record{}, err
	}
	defer x.mu.Unlock()
	if other, ok := s.otherOf(x, q); ok {
		return other, nil
	}
	h := s.shardOf(q.Ref)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := s.now()
	w, ok := h.rows[q.Ref]
	if !ok {
		w = &row{ref: q.Ref}
		h.rows[q.Ref] = w
		return x.claim(w, q, q.First(now), store.Claimed), nil
	}
	next, changed := w.rec.AfterClaim(q, now)
	if !changed {
		return handOut(next), nil
	}
	return x.claim(w, q, next, store.Claimed), nil
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	x := s.indexOf(q)
	if err := lock(ctx, &x.mu); err != nil {
		return store.Record{}, err
	}
	defer x.mu.Unlock()
	other, ok := s.otherOf(x, q)
	h := s.shardOf(q.Ref)
	h.mu.Lock()
	defer h.mu.Unlock()
	w, found := h.rows[q.Ref]
	switch {
	case !found:
		return store.Record{}, store.ErrNotFound
	case ok:
		return other, store.ErrConflict
	}
	next, changed, err := w.rec.AfterTakeOver(q, seen, s.now())
	if !changed {
		return handOut(next), err
	}
	return x.claim(w, q, next, store.TookOver), nil
}

// otherOf returns the record that q's scheduled activity claimed, if it is another one
// than q asks for.
func (s *Store) otherOf(x *index, q store.Request) (store.Record, bool) {
	w, ok := x.claimed[q.Scheduled] // never holds the zero digest
	if !ok || w.ref == q.Ref {
		return store.Record{}, false
	}
	h := s.shardOf(w.ref)
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.rec.Scheduled != q.Scheduled {
		return store.Record{}, false
	}
	r := w.rec
	r.Now = s.now()
	return handOut(r), true
}

// claim keeps what a request made of a record.
func (x *index) claim(w *row, q store.Request, next store.Record, verb store.Verb) store.Record {
	if w.rec.Fingerprint == (store.Digest{}) { // then the fields are the request's
		next.Fields = clones(next.Fields)[0]
	}
	if q.Scheduled != (store.Digest{}) {
		x.claimed[q.Scheduled] = w
	}
	w.keep(next, verb, q.Who, "")
	return handOut(next)
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, h := range held {
		if s.renew(lease, h) {
			lost = append(lost, h)
		}
	}
	return lost, nil
}

// renew renews one claim, and reports whether it is lost.
func (s *Store) renew(lease time.Duration, held store.Claim) bool {
	h := s.shardOf(held.Ref)
	h.mu.Lock()
	defer h.mu.Unlock()
	w, ok := h.rows[held.Ref]
	if !ok {
		return true
	}
	now := s.now()
	next, changed, gone := w.rec.AfterRenew(held, lease, now)
	switch {
	case changed && w.rec.LogRenewal(now):
		w.keep(next, store.Resumed, "", "")
	case changed:
		w.rec = next
	}
	return gone
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
	h := s.shardOf(ref)
	if err := lock(ctx, &h.mu); err != nil {
		return store.Record{}, err
	}
	defer h.mu.Unlock()
	w, ok := h.rows[ref]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	next, changed, err := after(w.rec, s.now())
	if !changed {
		return handOut(next), err
	}
	if c.Outcome != nil {
		next.Outcome = takeIn(c.Outcome)
	}
	w.keep(next, c.Verb, c.Who, c.Why)
	return handOut(next), nil
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	h := s.shardOf(ref)
	if err := lock(ctx, &h.mu); err != nil {
		return store.Record{}, err
	}
	defer h.mu.Unlock()
	w, ok := h.rows[ref]
	if !ok {
		return store.Record{}, store.ErrNotFound
	}
	r := w.rec
	r.Now = s.now()
	return handOut(r), nil
}
