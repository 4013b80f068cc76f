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
	if err := s.lock(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.mu.Unlock()
	for _, ref := range s.refs() {
		if ref.Key == k {
			r := s.records[ref]
			r.Now = s.now()
			return own(r), nil
		}
	}
	return store.Record{}, store.ErrNotFound
}

// List implements [store.Lister].
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.now()
	var page []store.Record
	for _, ref := range s.refs() {
		r := s.records[ref]
		r.Now = now
		if !f.Matches(r) {
			continue
		}
		if page = append(page, own(r)); len(page) == f.Size() {
			break
		}
	}
	return page, nil
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if _, ok := s.records[ref]; !ok {
		return nil, store.ErrNotFound
	}
	return slices.Clone(s.history[ref]), nil
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
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	now := s.now()
	for _, ref := range s.refs() {
		if n == limit {
			break
		}
		prev := s.records[ref]
		if next, changed := after(prev, now); changed {
			s.put(&prev, next, verb, "", "")
			n++
		}
	}
	return n, nil
}

// refs are sorted, so that equal stores answer equally.
func (s *Store) refs() []store.Ref {
	return slices.SortedFunc(maps.Keys(s.records), store.Ref.Compare)
}
