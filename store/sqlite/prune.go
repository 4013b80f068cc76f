package sqlite

import (
	"context"
	"strings"

	"github.com/effectonce/effectonce/store"
)

var _ store.Pruner = (*Store)(nil)

// Prune implements [store.Pruner]. It looks through the finished records.
func (s *Store) Prune(ctx context.Context, p store.Prune) (n int, err error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	query := "SELECT id, " + columns + ` FROM records WHERE state IN ('completed', 'failed') AND root <> zeroblob(16)
		AND finished <= ? AND scope_kind IN (?` + strings.Repeat(", ?", len(p.Kinds)-1) + ") LIMIT ?"
	err = s.writer.do(ctx, func(t tx) error {
		n = 0
		now := now()
		args := []any{now.Add(-p.Age).UnixMicro()}
		for _, kind := range p.Kinds {
			args = append(args, kind)
		}
		rows, err := t.conn.QueryContext(context.WithoutCancel(ctx), query, append(args, p.Limit)...)
		if err != nil {
			return err
		}
		due, unreadable := records(rows, now)
		if unreadable != nil && !refused(unreadable) {
			return unreadable
		}
		for _, r := range due {
			if !p.Matches(r.Record) {
				continue
			}
			// The record first: the history of one that is there cannot be deleted.
			for _, table := range []string{"records WHERE id", "history WHERE record"} {
				if _, err := t.conn.ExecContext(context.WithoutCancel(ctx), "DELETE FROM "+table+" = ?", r.id); err != nil {
					return err
				}
			}
			n++
		}
		return unreadable
	})
	return n, s.explain("prune", err)
}
