package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

// Housekeeping takes a bounded number of rows at a time and passes over those that
// somebody is just writing. The condition is said twice: a row is taken as it was
// when the statement began, and changed only if it is so still.

// Leases are not in an index: that would cost every claim and report. A sweep looks
// through what has become active since the moment before which earlier sweeps have
// left nothing active; {progress} keeps that moment.
const sweepSQL = `
WITH {clock}, due AS (
	SELECT root, key FROM {records}, clock
	WHERE active_since >= $2 AND state IN ('in_flight', 'pending') AND lease <= now
	LIMIT $1 FOR UPDATE OF records SKIP LOCKED
), changed AS (
	UPDATE {records} r SET state = 'unknown', version = r.version + 1,
		lease = CASE WHEN r.state = 'in_flight' THEN r.lease END
	FROM due, clock
	WHERE r.root = due.root AND r.key = due.key AND r.state IN ('in_flight', 'pending') AND r.lease <= now
	RETURNING now, r.version, r.fence, r.root, r.key, r.waited_for
), logged AS (
	INSERT INTO {history} (at, version, fence, root, key, verb, state, who, why)
	SELECT now, version, fence, root, key, 'sweep', 'unknown', '', '' FROM changed
)
SELECT count(*), {durable}, count({notify}) FROM changed`

// ownPlanSQL has the next statement planned for its own arguments: little or much may
// be due.
const ownPlanSQL = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`

// What has its moment may not be committed yet: hence the ten minutes. A clock that was
// put back shows in what is younger, and then everything is looked through once more.
const believed = `till <= clock_timestamp() - interval '10 minutes'`

const begunSQL = `
SELECT coalesce((SELECT till FROM {progress} WHERE task = $1 AND ` + believed + `), '-infinity')`

const sweptTillSQL = `
INSERT INTO {progress} AS p (task, till)
SELECT 'sweep', least(min(active_since), clock_timestamp() - interval '10 minutes') FROM {records}
WHERE active_since >= $1 AND state IN ('in_flight', 'pending')` + further

const further = `
ON CONFLICT (task) DO UPDATE SET till = CASE WHEN p.` + believed + ` THEN greatest(p.till, excluded.till) ELSE excluded.till END`

// begun returns the moment before which a task has left nothing to do.
func (s *Store) begun(ctx context.Context, task string) (till pgtype.Timestamptz, err error) {
	return reading(ctx, s, func() (till pgtype.Timestamptz, err error) {
		err = s.pool.QueryRow(ctx, s.text.begun, task).Scan(&till)
		return till, err
	})
}

// Sweep implements [store.Janitor]. It looks through what has become active since the
// oldest claim that the sweep before found alive.
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	if s.opts.Portable {
		return s.tidyPlainly(ctx, store.Swept, limit)
	}
	since, err := s.begun(ctx, "sweep")
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", explained(err))
	}
	n, err := s.tidy(ctx, "sweep", s.text.sweep, limit, since)
	if err != nil || n == limit {
		return n, err
	}
	if err := s.advance(ctx, statement{s.text.sweptTill, []any{since}, ignore}); err != nil {
		return n, fmt.Errorf("sweep: %w", explained(err))
	}
	return n, nil
}

// advance notes how far a task has come.
func (s *Store) advance(ctx context.Context, list ...statement) error {
	_, err := detached(ctx, s, func() (none struct{}, err error) {
		return none, s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error { return s.send(ctx, c, list...) })
	})
	return err
}

// atOnce is how many records are changed in one transaction.
const atOnce = 350

// rest has others go first for as long as a transaction took, within reason: there are
// many more, and none of them is urgent.
func rest(ctx context.Context, began time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(min(time.Since(began), 20*time.Millisecond)):
	}
}

func (s *Store) tidy(ctx context.Context, what, sql string, limit int, args ...any) (total int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	for total < limit {
		size, began := min(limit-total, atOnce), time.Now()
		n, err := detached(ctx, s, func() (n int, err error) {
			err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
				return s.send(ctx, c, statement{ownPlanSQL, nil, ignore}, statement{sql, append([]any{size}, args...), func(rows pgx.Rows) error {
					defer rows.Close()
					for rows.Next() {
						if err := rows.Scan(&n, nil, nil); err != nil {
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
			return total, fmt.Errorf("%s: %w", what, explained(err))
		}
		if n < size {
			break
		}
		if total < limit {
			rest(ctx, began)
		}
	}
	return total, nil
}
