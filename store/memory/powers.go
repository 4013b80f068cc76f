package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Lookup implements [store.Lister].
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
	all, unlock, err := s.all(ctx)
	if err != nil {
		return store.Record{}, err
	}
	defer unlock()
	for _, ref := range all {
		if ref.Key == k {
			return s.shardOf(ref).rows[ref].record(s.now()), nil
		}
	}
	return store.Record{}, store.ErrNotFound
}

// List implements [store.Lister].
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	all, unlock, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	now := s.now()
	var page []store.Record
	for _, ref := range all {
		r := s.shardOf(ref).rows[ref].record(now)
		if !f.Matches(r) {
			continue
		}
		if page = append(page, r); len(page) == f.Size() {
			break
		}
	}
	return page, nil
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	h := s.shardOf(ref)
	if err := lock(ctx, &h.mu); err != nil {
		return nil, err
	}
	defer h.mu.Unlock()
	w, ok := h.rows[ref]
	if !ok {
		return nil, store.ErrNotFound
	}
	return w.history(), nil
}

// Sweep implements [store.Janitor].
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, store.Swept, store.Record.AfterSweep)
}

// Expire implements [store.Janitor].
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, store.Expired, store.Record.AfterExpire)
}

func (s *Store) tidy(ctx context.Context, limit int, verb store.Verb,
	after func(store.Record, time.Time) (store.Record, bool),
) (n int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	all, unlock, err := s.all(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	now := s.now()
	for _, ref := range all {
		if n == limit {
			break
		}
		h := s.shardOf(ref)
		w := h.rows[ref]
		rec := w.record(now)
		if next, changed := after(rec, now); changed {
			h.rows[ref] = w.next(&rec, &next, verb, "", "")
			n++
		}
	}
	return n, nil
}

// all returns the refs of all records, which stay as they are until unlock is called;
// sorted, so that equal stores answer equally.
func (s *Store) all(ctx context.Context) (refs []store.Ref, unlock func(), err error) {
	unlock, err = s.lockAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.shards {
		refs = slices.AppendSeq(refs, maps.Keys(s.shards[i].rows))
	}
	slices.SortFunc(refs, store.Ref.Compare)
	return refs, unlock, nil
}
