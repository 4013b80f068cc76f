package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

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

const historySQL = `
SELECT at, verb, state, token, fence, generation, attempt, workflow_id, run_id, coalesce(who, ''), coalesce(why, '')
FROM {history} WHERE root = $1 AND key = $2 ORDER BY version`

// Lookup implements [store.Lister]. It reads the whole table.
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
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
	found, err := s.query(ctx, s.text.list, uuid(f.After.Root), f.After.Key[:], string(f.State), f.Uncertain,
		f.ScopeKind, f.ScopeID, f.Tenant, f.Operation, f.WorkflowID, f.Size())
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	return found, nil
}

func (s *Store) query(ctx context.Context, sql string, args ...any) ([]store.Record, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := read(rows)
	if err != nil {
		return nil, err
	}
	records := make([]store.Record, len(found))
	for i := range found {
		records[i] = found[i].Record
	}
	return records, nil
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	rows, err := s.pool.Query(ctx, s.text.history, uuid(ref.Root), ref.Key[:])
	if err != nil {
		return nil, failed("history of", ref.Key, err)
	}
	entries, err := readEntries(rows, ref)
	if err == nil && len(entries) == 0 {
		_, err = s.Get(ctx, ref) // there may be a record whose history was cut off
	}
	if err != nil {
		return nil, failed("history of", ref.Key, err)
	}
	return entries, nil
}

// readEntries fills in what an entry has in common with the one before it.
func readEntries(rows pgx.Rows, ref store.Ref) (entries []store.Entry, err error) {
	defer rows.Close()
	var before store.Entry
	for rows.Next() {
		e := store.Entry{Ref: ref, From: before.To, WorkflowID: before.WorkflowID, RunID: before.RunID}
		var workflow, run *string
		err := rows.Scan(&e.At, (*string)(&e.Verb), (*string)(&e.To), (*[16]byte)(&e.Token), &e.Fence,
			&e.Generation, &e.Attempt, &workflow, &run, &e.Who, &e.Why)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
		}
		e.At = e.At.UTC()
		if workflow != nil {
			e.WorkflowID = *workflow
		}
		if run != nil {
			e.RunID = *run
		}
		entries, before = append(entries, e), e
	}
	return entries, rows.Err()
}
