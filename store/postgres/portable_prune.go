package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

const (
	plainPrunableSQL = `
SELECT root, key_hex, scope_kind FROM {records}
WHERE (root, key_hex) > ($1, $2) AND state IN ('completed', 'failed') AND finished <= clock_timestamp() - $3::interval
ORDER BY root, key_hex
LIMIT $4`

	plainPruneSQL = `
DELETE FROM {records} WHERE root = $1 AND key_hex = $2 AND version = $3`

	plainForgetSQL = `
DELETE FROM {history} WHERE root = $1 AND key_hex = $2
	AND NOT EXISTS (SELECT 1 FROM {records} WHERE root = $1 AND key_hex = $2)`
)

// prunePlainly looks for records to delete, in the order of their refs, and deletes each
// by itself. One that cannot be read is passed over, and told.
func (s *Store) prunePlainly(ctx context.Context, p store.Prune) (total int, err error) {
	after := store.Ref{Key: [32]byte(bytes.Repeat([]byte{0xff}, 32))} // behind all that have no root
	var unreadable error
	for {
		page, err := s.prunable(ctx, p, after)
		if err != nil {
			return total, fmt.Errorf("prune: %w", explained(errors.Join(unreadable, err)))
		}
		for _, r := range page {
			if !slices.Contains(p.Kinds, r.ScopeKind) {
				continue
			}
			deleted, err := s.pruneOne(ctx, p, r.Ref)
			switch {
			case errors.Is(err, store.ErrCorrupt):
				unreadable = errors.Join(unreadable, failed("prune", r.Key, err))
			case err != nil:
				return total, errors.Join(unreadable, failed("prune", r.Key, err))
			case deleted:
				total++
			}
			if total == p.Limit {
				return total, unreadable
			}
		}
		if len(page) < pageSize {
			return total, unreadable
		}
		after = page[len(page)-1].Ref
	}
}

// prunable returns the refs and the kinds of a page of old records.
func (s *Store) prunable(ctx context.Context, p store.Prune, after store.Ref) ([]store.Record, error) {
	return detached(ctx, s, func() (page []store.Record, err error) {
		err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
			rows, err := c.Query(ctx, s.plain.prunable, uuid(after.Root), hexed(after.Key[:]), interval(p.Age), pageSize)
			if err != nil {
				return err
			}
			page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r store.Record, err error) {
				var key string
				if err := row.Scan(&r.Root, &key, &r.ScopeKind); err != nil {
					return r, err
				}
				return r, unhexed("key_hex", r.Key[:], &key)
			})
			return err
		})
		return page, err
	})
}

// pruneOne deletes a record and its history, if it still is as it was read.
func (s *Store) pruneOne(ctx context.Context, p store.Prune, ref store.Ref) (deleted bool, err error) {
	tried := false // and nobody has told what came of it
	_, err = s.do(ctx, job{alone: func(ctx context.Context, c *pgx.Conn) (store.Record, error) {
		r, err := s.findPlainly(ctx, c, ref)
		switch {
		case errors.Is(err, store.ErrNotFound):
			deleted = tried
			return r.Record, nil
		case err != nil || !p.Matches(r.Record):
			return r.Record, err
		}
		err = s.pipeline(ctx, c, []statement{
			{beginSQL, nil, ignore},
			{s.plain.prune, []any{uuid(ref.Root), hexed(ref.Key[:]), r.version}, func(rows pgx.Rows) error {
				rows.Close()
				deleted = rows.CommandTag().RowsAffected() == 1
				return rows.Err()
			}},
			{s.plain.forget, []any{uuid(ref.Root), hexed(ref.Key[:])}, ignore},
			{commitSQL, nil, ignore},
		})
		code := state(err)
		tried = err != nil && (code == "" || code == completionUnknown)
		return r.Record, err
	}})
	return deleted && err == nil, err
}
