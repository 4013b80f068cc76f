package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/effectonce/effectonce/store"
)

var _ store.Pruner = (*Store)(nil)

// Prune implements [store.Pruner]. It looks through the records without the lock that
// all processes share, and takes that for a bounded number of them at a time. One that
// cannot be read is passed over, and told.
func (s *Store) Prune(ctx context.Context, p store.Prune) (total int, err error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	var unreadable error
	for after := int64(0); total < p.Limit; {
		page, err := s.prunable(ctx, p, after, min(p.Limit-total, maxBatch))
		if err != nil || len(page) == 0 {
			return total, s.explain("prune", errors.Join(unreadable, err))
		}
		n, err := s.prunePage(ctx, p, page)
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return total, s.explain("prune", errors.Join(unreadable, err))
		}
		unreadable = errors.Join(unreadable, err)
		total += n
		after = page[len(page)-1]
	}
	return total, s.explain("prune", unreadable)
}

// prunable returns the numbers of the next rows that may be deleted.
func (s *Store) prunable(ctx context.Context, p store.Prune, after int64, limit int) (page []int64, err error) {
	args := []any{after, now().Add(-p.Age).UnixMicro()}
	for _, kind := range p.Kinds {
		args = append(args, kind)
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT id FROM records WHERE id > ? AND state IN ('completed', 'failed')
		AND root <> zeroblob(16) AND finished <= ? AND scope_kind IN (`+marks(strings.Repeat(",", len(p.Kinds)-1))+`)
		ORDER BY id LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has it
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		page = append(page, id)
	}
	return page, rows.Err()
}

// prunePage deletes those rows that still may be deleted.
func (s *Store) prunePage(ctx context.Context, p store.Prune, page []int64) (n int, err error) {
	err = s.writer.do(ctx, func(t tx) error {
		n = 0
		var unreadable error
		for _, id := range page {
			deleted, err := t.prune(p, id)
			switch {
			case errors.Is(err, store.ErrCorrupt):
				unreadable = errors.Join(unreadable, err)
			case err != nil:
				return err
			case deleted:
				n++
			}
		}
		return unreadable
	})
	return n, err
}

func (t tx) prune(p store.Prune, id int64) (deleted bool, err error) {
	ctx := context.Background() // once begun, a change is finished
	rows, err := t.conn.QueryContext(ctx, "SELECT id, "+columns+" FROM records WHERE id = ?", id)
	r, err := one(rows, err, now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case err != nil || !p.Matches(r.Record):
		return false, err
	}
	// The record first: the history of one that is there cannot be deleted.
	for _, from := range []string{"records WHERE id", "history WHERE record"} {
		if _, err := t.conn.ExecContext(ctx, "DELETE FROM "+from+" = ?", id); err != nil {
			return false, err
		}
	}
	return true, nil
}
