package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

var _ store.Pruner = (*Store)(nil)

const pruneTillSQL = `
SELECT clock_timestamp() - $1::interval`

// What finished before a moment became active before it: so the index on that helps.
// A row that was written after the statement began is left alone, whatever it says now:
// the statement does not see the history that came with it, and would leave that behind.
const pruneSQL = `
WITH due AS (
	SELECT root, key FROM {records}
	WHERE active_since <= $2 AND finished <= $2 AND state IN ('completed', 'failed')
		AND root <> '00000000-0000-0000-0000-000000000000' AND scope_kind = ANY ($3::text[])
	LIMIT $1 FOR UPDATE SKIP LOCKED
), gone AS (
	DELETE FROM {records} r USING due, {records} seen
	WHERE r.root = due.root AND r.key = due.key AND r.finished <= $2 AND r.state IN ('completed', 'failed')
		AND seen.root = due.root AND seen.key = due.key AND seen.version = r.version
	RETURNING r.root, r.key
), forgotten AS (
	DELETE FROM {history} h USING gone WHERE h.root = gone.root AND h.key = gone.key
)
SELECT count(*), {durable}, 0 FROM gone`

// Prune implements [store.Pruner]. It needs the right to delete from both tables.
func (s *Store) Prune(ctx context.Context, p store.Prune) (int, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	if s.opts.Portable {
		return s.prunePlainly(ctx, p)
	}
	var till pgtype.Timestamptz
	if err := s.pool.QueryRow(ctx, s.text.pruneTill, interval(p.Age)).Scan(&till); err != nil {
		return 0, fmt.Errorf("prune: %w", explained(err))
	}
	return s.tidy(ctx, "prune", s.text.prune, p.Limit, till, p.Kinds)
}
