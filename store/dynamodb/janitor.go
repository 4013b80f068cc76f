package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Sweep implements [store.Janitor]. It reads the whole table, and finds over what this
// store has watched for a lease: call it again and again from a process that stays.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	values := item{}
	values.text(":in_flight", string(store.InFlight))
	values.text(":pending", string(store.Pending))
	return s.tidy(ctx, limit, store.Swept, store.Record.AfterSweep, filter{
		expression: "#state IN (:in_flight, :pending)",
		names:      map[string]string{"#state": "state"},
		values:     values,
	})
}

// Expire implements [store.Janitor]. It reads the whole table. Items stay.
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	values := item{}
	values.at(":now", s.now())
	return s.tidy(ctx, limit, store.Expired, store.Record.AfterExpire, filter{
		expression: "attribute_exists(#format) AND #expires <= :now",
		names:      map[string]string{"#format": "format", "#expires": "expires"},
		values:     values,
	})
}

// tidy changes at most limit records. One that cannot be read does not keep the others.
func (s *Store) tidy(ctx context.Context, limit int, verb store.Verb,
	after func(store.Record, time.Time) (store.Record, bool), f filter,
) (n int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	var unreadable error
	for r, err := range s.scan(ctx, f) {
		if errors.Is(err, store.ErrCorrupt) {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		changed := false
		if err == nil {
			changed, err = s.tidyOne(ctx, r, verb, after)
		}
		if err != nil {
			return n, s.failed(string(verb), err)
		}
		if changed {
			n++
		}
		if n == limit {
			break
		}
	}
	return n, s.failed(string(verb), unreadable)
}

func (s *Store) tidyOne(ctx context.Context, r row, verb store.Verb,
	after func(store.Record, time.Time) (store.Record, bool),
) (bool, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	for won := false; ; {
		next, changed := after(r.Record, s.now())
		if !changed {
			return false, nil
		}
		if r, won, err = s.swap(ctx, r, next, verb, "", ""); won || err != nil {
			return won, err
		}
	}
}
