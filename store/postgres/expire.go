package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

// Rows are looked at when they fall due, in the order in which they do. What has not
// finished by then is not looked at again until it has, and what finished late when its
// retention is over.
const expireSQL = `
WITH {clock}, due AS (
	SELECT ctid AS at, coalesce(look_again, expires) AS since,
		CASE WHEN state IN ('completed', 'failed') THEN finished + ((retention - 1) / 1000 + 1) * interval '1 microsecond' END AS over
	FROM {records}
	WHERE coalesce(look_again, expires) BETWEEN $2 AND statement_timestamp() -- which an index can be asked for
		AND expires IS NOT NULL AND dropped IS NULL
	ORDER BY coalesce(look_again, expires)
	LIMIT $1 FOR UPDATE SKIP LOCKED
), gone AS (
	UPDATE {records} r SET dropped = now, version = version + 1, outcome_format = NULL, outcome_data = NULL, outcome_context = NULL
	FROM due, clock
	WHERE r.ctid = due.at AND over <= now
	RETURNING 1
), put_off AS (
	UPDATE {records} r SET look_again = coalesce(over, 'infinity')
	FROM due, clock
	WHERE r.ctid = due.at AND (over <= now) IS NOT TRUE
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM due), (SELECT max(since) FROM due), {durable}`

// inOrderSQL has rows read in the order of an index, not gathered and sorted: they are
// many, of which the first few are wanted.
const inOrderSQL = `
SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`

const expiredTillSQL = `
INSERT INTO {progress} AS p (task, till)
SELECT 'expire', least(min(coalesce(look_again, expires)), $2, clock_timestamp() - interval '10 minutes') FROM {records}
WHERE coalesce(look_again, expires) BETWEEN $1 AND $2 AND expires IS NOT NULL AND dropped IS NULL` + further

// Expire implements [store.Janitor]. It goes on where this Store has come to, and then
// looks from the moment before which nothing is left: what is between the two may have
// been committed late, or was locked.
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	if s.opts.Portable {
		return s.tidyPlainly(ctx, store.Expired, limit)
	}
	n, err := s.expire(ctx, limit)
	if err != nil {
		return n, fmt.Errorf("expire: %w", explained(err))
	}
	return n, nil
}

func (s *Store) expire(ctx context.Context, limit int) (total int, err error) {
	till, err := s.begun(ctx, "expire")
	if err != nil {
		return 0, err
	}
	from, all := till, true
	if to := s.expiredTo.Load(); to != nil && to.Time.After(till.Time) {
		from, all = *to, false
	}
	to := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	for {
		size, began := min(limit-total, atOnce), time.Now()
		l, err := s.look(ctx, size, from)
		total += l.gone
		if err != nil {
			return total, err
		}
		if l.due < size && all {
			break
		}
		if l.due < size {
			from, all = till, true
			continue
		}
		from = l.last
		s.expiredTo.Store(&l.last) // which is not written again
		if total == limit {
			to = from
			break
		}
		rest(ctx, began)
	}
	if !all { // a call that gets to the end will note it; from till it is a long way to here
		return total, nil
	}
	return total, s.advance(ctx, statement{inOrderSQL, nil, ignore}, statement{s.text.expiredTill, []any{till, to}, ignore})
}

// looked is what came of a look at what is due.
type looked struct {
	due, gone int
	last      pgtype.Timestamptz // when the last of it fell due
}

func (s *Store) look(ctx context.Context, size int, from pgtype.Timestamptz) (looked, error) {
	return detached(ctx, s, func() (l looked, err error) {
		err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
			return s.send(ctx, c, statement{inOrderSQL, nil, ignore}, statement{s.text.expire, []any{size, from}, func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&l.gone, &l.due, &l.last, nil}, func() error { return nil })
				return err
			}})
		})
		return l, err
	})
}
