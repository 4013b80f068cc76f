package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// pageSize is how many records are looked for at a time.
const pageSize = 200

// tidyPlainly looks for records to sweep or to expire, in the order of their refs, and
// changes each by itself. One that cannot be read is passed over, and told.
func (s *Store) tidyPlainly(ctx context.Context, verb store.Verb, limit int) (total int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	var after store.Ref
	var unreadable error
	for total < limit {
		page, err := s.due(ctx, verb, after)
		if err != nil {
			return total, fmt.Errorf("%s: %w", verb, explained(errors.Join(unreadable, err)))
		}
		for _, ref := range page {
			if total == limit {
				break
			}
			changed, err := s.tidyOne(ctx, verb, ref)
			switch {
			case errors.Is(err, store.ErrCorrupt):
				unreadable = errors.Join(unreadable, failed(string(verb), ref.Key, err))
			case err != nil:
				return total, errors.Join(unreadable, failed(string(verb), ref.Key, err))
			case changed:
				total++
			}
		}
		if len(page) < pageSize {
			break
		}
		after = page[len(page)-1]
	}
	return total, unreadable
}

func (s *Store) due(ctx context.Context, verb store.Verb, after store.Ref) (refs []store.Ref, err error) {
	return detached(ctx, s, func() (refs []store.Ref, err error) {
		err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
			rows, err := c.Query(ctx, s.plain.due[verb], uuid(after.Root), hexed(after.Key[:]), pageSize)
			if err != nil {
				return err
			}
			refs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ref store.Ref, err error) {
				var key string
				if err := row.Scan(&ref.Root, &key); err != nil {
					return ref, err
				}
				return ref, unhexed("key_hex", ref.Key[:], &key)
			})
			return err
		})
		return refs, err
	})
}

func (s *Store) tidyOne(ctx context.Context, verb store.Verb, ref store.Ref) (changed bool, err error) {
	ch := change{ref: ref, verb: verb, after: func(r store.Record) (next store.Record, _ bool, _ error) {
		if verb == store.Swept {
			next, changed = r.AfterSweep(r.Now)
		} else {
			next, changed = r.AfterExpire(r.Now)
		}
		return next, changed, nil
	}}
	_, err = s.do(ctx, job{alone: func(ctx context.Context, c *pgx.Conn) (store.Record, error) { return ch.runPlainly(ctx, s, c) }})
	if errors.Is(err, store.ErrNotFound) { // pruned since it was looked for
		return false, nil
	}
	return changed && err == nil, err
}
