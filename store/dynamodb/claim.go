package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/effectonce/effectonce/store"
)

// Claim implements [store.Store]. A first claim is one write; a duplicate, one read, and
// before it one write that is refused if it is a first attempt.
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	r, err := s.owning(ctx, q, store.Release, func(ctx context.Context) (claimed, error) { return s.claim(ctx, q) })
	return r, s.failed("claim "+q.Key.String(), err)
}

func (s *Store) claim(ctx context.Context, q store.Request) (claimed, error) {
	var prev row
	var err error
	if q.Attempt > 1 { // else most likely there is none
		prev, err = s.find(ctx, q.Key)
	}
	for won := false; ; {
		if errors.Is(err, store.ErrNotFound) {
			prev, err = row{}, nil
		}
		if err != nil {
			return claimed{}, err
		}
		now := s.now()
		next, changed := q.First(now), true
		if prev.there() {
			if prev.Root != q.Root {
				return claimed{}, fmt.Errorf("%w: Root is not that of the record: it must be a function of Key", store.ErrInvalid)
			}
			next, changed = prev.AfterClaim(q, now)
		}
		if !changed {
			prev.Record = next
			return claimed{row: prev}, nil
		}
		if prev, won, err = s.swap(ctx, prev, next, store.Claimed, q.Who, ""); won {
			return claimed{row: prev, made: true}, nil
		}
	}
}

// TakeOver implements [store.Store]: a read and a write.
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	r, err := s.owning(ctx, q, store.MarkUnknown, func(ctx context.Context) (claimed, error) { return s.takeOver(ctx, q, seen) })
	return r, s.failed("take over "+q.Key.String(), err)
}

func (s *Store) takeOver(ctx context.Context, q store.Request, seen store.Record) (claimed, error) {
	prev, err := s.read(ctx, q.Ref)
	for won := false; err == nil; {
		next, changed, refusal := prev.AfterTakeOver(q, seen, s.now())
		if refusal != nil || !changed {
			prev.Record = next
			return claimed{row: prev}, refusal
		}
		if prev, won, err = s.swap(ctx, prev, next, store.TookOver, q.Who, ""); won {
			return claimed{row: prev, made: true}, nil
		}
	}
	return claimed{}, err
}
