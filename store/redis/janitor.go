package redis

import (
	"context"
	"errors"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Sweep implements [store.Janitor].
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, s.keys.leases, store.Swept, store.Record.AfterSweep)
}

// Expire implements [store.Janitor].
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, s.keys.expiries, store.Expired, store.Record.AfterExpire)
}

// tidy changes at most limit of the records that are due by an index. The state
// machine has the last word about each. One that cannot be read does not keep the
// others: it stays in the index, and is passed over.
func (s *Store) tidy(ctx context.Context, limit int, index string, verb store.Verb,
	after func(store.Record, time.Time) (store.Record, bool),
) (n int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	c := newCall(ctx)
	var unreadable error
	for stay := 0; n < limit; {
		due, err := s.do(c, &job{script: dueScript, keys: []string{index}, args: []any{stay, min(limit-n, maxBatch)}})
		if err != nil {
			return n, failed(string(verb), err)
		}
		if len(due.list) == 0 {
			break
		}
		for _, k := range due.list {
			var ref store.Ref
			copy(ref.Key[:], k)
			changed, err := s.tidyOne(c, ref, verb, after)
			switch {
			case errors.Is(err, store.ErrCorrupt):
				stay++
				unreadable = errors.Join(unreadable, failed(string(verb)+" "+ref.Key.String(), err))
			case err != nil:
				return n, failed(string(verb)+" "+ref.Key.String(), err)
			case changed:
				n++
			default:
				stay++
			}
		}
	}
	return n, unreadable
}

func (s *Store) tidyOne(c *call, ref store.Ref, verb store.Verb, after func(store.Record, time.Time) (store.Record, bool)) (bool, error) {
	for {
		answer, err := s.do(c, s.newRead(ref, store.Digest{}, false))
		if err != nil {
			return false, err
		}
		prev, err := answer.row()
		if errors.Is(err, store.ErrNotFound) {
			return false, store.ErrCorrupt // it was there when the index was written
		}
		if err != nil {
			return false, err
		}
		prev.Key = ref.Key
		next, changed := after(prev.Record, answer.now)
		if !changed {
			return false, nil
		}
		done, err := s.swap(c, prev, next, next.Log(&prev.Record, verb, "", ""))
		if err != nil || done.kind == written {
			return err == nil, err
		}
	}
}
