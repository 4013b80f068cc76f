package dynamodb

import (
	"context"
	"slices"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Lookup implements [store.Lister]. It is one read.
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
	r, err := s.lookup(ctx, k)
	return own(r.Record), s.failed("look up "+k.String(), err)
}

func (s *Store) lookup(ctx context.Context, k key.Key) (row, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return row{}, err
	}
	defer cancel()
	return s.find(ctx, k)
}

// List implements [store.Lister]. It reads the whole table for every page, and so costs
// a read unit for each 4 KB in it: it is for people, and for small tables.
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	page, err := s.list(ctx, f)
	return page, s.failed("list", err)
}

// list keeps the first records in the order of their refs; the table has none.
func (s *Store) list(ctx context.Context, f store.Filter) (first []store.Record, err error) {
	size := f.Size()
	for r, err := range s.scan(ctx, filter{}) {
		if err != nil {
			return nil, err
		}
		if f.Matches(r.Record) {
			first = append(first, own(r.Record))
		}
		if len(first) >= 2*size {
			first = sorted(first, size)
		}
	}
	return sorted(first, size), nil
}

func sorted(records []store.Record, size int) []store.Record {
	slices.SortFunc(records, func(a, b store.Record) int { return a.Ref.Compare(b.Ref) })
	return records[:min(len(records), size)]
}
