package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// Housekeeping takes a bounded number of rows at a time and passes over those that
// somebody is just writing. The condition is said twice: a row is taken as it was
// when the statement began, and changed only if it is so still.

const sweepSQL = `
WITH {clock}, due AS (
	SELECT root, key FROM {records}, clock
	WHERE state IN ('in_flight', 'pending') AND lease <= now
	LIMIT $1 FOR UPDATE OF records SKIP LOCKED
), changed AS (
	UPDATE {records} r SET state = 'unknown', version = r.version + 1,
		lease = CASE WHEN r.state = 'in_flight' THEN r.lease END
	FROM due, clock
	WHERE r.root = due.root AND r.key = due.key AND r.state IN ('in_flight', 'pending') AND r.lease <= now
	RETURNING now, r.version, r.fence, r.root, r.key
), logged AS (
	INSERT INTO {history} (at, version, fence, root, key, verb, state, who, why)
	SELECT now, version, fence, root, key, 'sweep', 'unknown', '', '' FROM changed
)
SELECT count(*), {durable} FROM changed`

const expireSQL = `
WITH {clock}, due AS (
	SELECT root, key FROM {records}, clock
	WHERE NOT dropped AND expires <= now AND state IN ('completed', 'failed')
		AND finished + ceil(retention / 1000.0) * interval '1 microsecond' <= now
	ORDER BY expires
	LIMIT $1 FOR UPDATE OF records SKIP LOCKED
), changed AS (
	UPDATE {records} r SET dropped = true, version = r.version + 1,
		outcome_format = NULL, outcome_data = NULL, outcome_context = NULL
	FROM due, clock
	WHERE r.root = due.root AND r.key = due.key
		AND NOT r.dropped AND r.expires <= now AND r.state IN ('completed', 'failed')
		AND r.finished + ceil(r.retention / 1000.0) * interval '1 microsecond' <= now
	RETURNING now, r.version, r.fence, r.root, r.key, r.state
), logged AS (
	INSERT INTO {history} (at, version, fence, root, key, verb, state, who, why)
	SELECT now, version, fence, root, key, 'expire', state, '', '' FROM changed
)
SELECT count(*), {durable} FROM changed`

// Sweep implements [store.Janitor].
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	if s.opts.Portable {
		return s.tidyPlainly(ctx, store.Swept, limit)
	}
	return s.tidy(ctx, "sweep", s.text.sweep, limit)
}

// Expire implements [store.Janitor].
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	if s.opts.Portable {
		return s.tidyPlainly(ctx, store.Expired, limit)
	}
	return s.tidy(ctx, "expire", s.text.expire, limit)
}

// atOnce is how many records are changed in one transaction.
const atOnce = 5000

func (s *Store) tidy(ctx context.Context, what, sql string, limit int) (total int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	for total < limit {
		size := min(limit-total, atOnce)
		n, err := detached(ctx, s, func() (n int, err error) {
			err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
				return s.send(ctx, c, statement{sql, []any{size}, func(rows pgx.Rows) error {
					defer rows.Close()
					for rows.Next() {
						if err := rows.Scan(&n, nil); err != nil {
							return err
						}
					}
					return rows.Err()
				}})
			})
			return n, err
		})
		total += n
		if err != nil {
			return total, fmt.Errorf("%s: %w", what, err)
		}
		if n < size {
			break
		}
	}
	return total, nil
}
