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
	"bytes"
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
		s.shards[i].rows = map[store.Ref]row{}
		s.indexes[i].claimed = map[store.Digest]store.Ref{}
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
		first := q.First(now)
		return x.claim(h, w, &store.Record{}, &first, q, store.Claimed), nil
	}
	rec := w.record(now)
	next, changed := rec.AfterClaim(q, now)
	if !changed {
		return next, nil
	}
	return x.claim(h, w, &rec, &next, q, store.Claimed), nil
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
	now := s.now()
	rec := w.record(now)
	next, changed, err := rec.AfterTakeOver(q, seen, now)
	if !changed {
		return next, err
	}
	return x.claim(h, w, &rec, &next, q, store.TookOver), nil
}

// otherOf returns the record that q's scheduled activity claimed, if it is another one
// than q asks for.
func (s *Store) otherOf(x *index, q store.Request) (store.Record, bool) {
	ref, ok := x.claimed[q.Scheduled] // never holds the zero digest
	if !ok || ref == q.Ref {
		return store.Record{}, false
	}
	h := s.shardOf(ref)
	h.mu.Lock()
	defer h.mu.Unlock()
	other := h.rows[ref].record(s.now())
	return other, other.Scheduled == q.Scheduled
}

// claim keeps what a request made of a record.
func (x *index) claim(h *shard, w row, from, to *store.Record, q store.Request, verb store.Verb) store.Record {
	if q.Scheduled != (store.Digest{}) {
		x.claimed[q.Scheduled] = q.Ref
	}
	to.Fields = kept(to.Fields) // perhaps the request's
	h.rows[q.Ref] = w.next(from, to, verb, q.Who, "")
	return *to
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
	rec := w.record(now)
	next, changed, gone := rec.AfterRenew(held, lease, now)
	if !changed {
		return gone
	}
	var verb store.Verb
	if rec.LogRenewal(now) {
		verb = store.Resumed
	}
	h.rows[held.Ref] = w.next(&rec, &next, verb, "", "")
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
	now := s.now()
	rec := w.record(now)
	next, changed, err := after(rec, now)
	if !changed {
		return next, err
	}
	h.rows[ref] = w.next(&rec, &next, c.Verb, c.Who, c.Why)
	if o := next.Outcome; o != nil { // perhaps the caller's
		next.Outcome = &store.Outcome{Format: o.Format, Data: kept(o.Data), Context: kept(o.Context)}
	}
	return next, nil
}

// kept returns a copy, as one gets it from a row: nil for an empty one.
func kept(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
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
	return w.record(s.now()), nil
}
