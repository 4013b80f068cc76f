package postgres

import (
	"context"
	"fmt"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Reading for people. A statement that they give up is cancelled.

// Without the root, the key can only be searched for.
const lookupSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE key = $1 ORDER BY root LIMIT 1`

const listSQL = `
WITH {clock}
SELECT {columns}, now FROM {records}, clock
WHERE (root, key) > ($1, $2)
	AND ($3 = '' OR state = $3)
	AND (NOT $4 OR state = 'unknown' OR state IN ('in_flight', 'pending') AND lease <= now)
	AND ($5 = '' OR scope_kind = $5)
	AND ($6 = '' OR scope_id = $6)
	AND ($7 = '' OR tenant = $7)
	AND ($8 = '' OR operation = $8)
	AND ($9 = '' OR workflow_id = $9)
ORDER BY root, key
LIMIT $10`

// Lookup implements [store.Lister]. It reads the whole table.
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
	if s.opts.Portable {
		return s.lookupPlainly(ctx, k)
	}
	found, err := s.query(ctx, s.text.lookup, k[:])
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Record{}, failed("look up", k, err)
	}
	return found[0], nil
}

// List implements [store.Lister].
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if s.opts.Portable {
		return s.listPlainly(ctx, f)
	}
	found, err := s.query(ctx, s.text.list, uuid(f.After.Root), f.After.Key[:], string(f.State), f.Uncertain,
		f.ScopeKind, f.ScopeID, f.Tenant, f.Operation, f.WorkflowID, f.Size())
	if err != nil {
		return nil, fmt.Errorf("list: %w", explained(err))
	}
	return found, nil
}

func (s *Store) query(ctx context.Context, sql string, args ...any) ([]store.Record, error) {
	found, err := reading(ctx, s, func() ([]row, error) {
		rows, err := s.pool.Query(ctx, sql, args...)
		if err != nil {
			return nil, err
		}
		return read(rows)
	})
	if err != nil {
		return nil, err
	}
	records := make([]store.Record, len(found))
	for i := range found {
		records[i] = found[i].Record
	}
	return records, nil
}
