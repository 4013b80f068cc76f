package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

const historySQL = `
SELECT at, version, fence, verb, state, token, generation, attempt, workflow_id, run_id, who, why
FROM {history} WHERE root = $1 AND key = $2 ORDER BY version`

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	entries, err := s.entries(ctx, ref)
	return entries, failed("history of", ref.Key, err)
}

func (s *Store) entries(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	if s.opts.Portable {
		return s.entriesPlainly(ctx, ref)
	}
	// The record before its history: what changes it in between shows in both, or
	// in the history only.
	rows, err := s.pool.Query(ctx, s.text.get, uuid(ref.Root), ref.Key[:])
	if err != nil {
		return nil, err
	}
	found, err := read(rows)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if rows, err = s.pool.Query(ctx, s.text.history, uuid(ref.Root), ref.Key[:]); err != nil {
		return nil, err
	}
	return readEntries(rows, &found[0])
}

// readEntries fills in what an entry has in common with the one before it.
func readEntries(rows pgx.Rows, r *row) (entries []store.Entry, err error) {
	defer rows.Close()
	var before store.Entry
	for first := true; rows.Next(); first = false {
		var version int64
		var token *[16]byte
		var generation, attempt *int
		var workflow, run *string
		e := store.Entry{Ref: r.Ref}
		err := rows.Scan(&e.At, &version, &e.Fence, (*string)(&e.Verb), (*string)(&e.To),
			&token, &generation, &attempt, &workflow, &run, &e.Who, &e.Why)
		if err != nil {
			return nil, fmt.Errorf("%w: history: %w", store.ErrCorrupt, err)
		}
		if first && version > 1 && e.Fence == 1 && r.Fence == 1 {
			before = r.firstClaim()
			entries = append(entries, before)
		}
		e.At, e.From = e.At.UTC(), before.To
		e.Token = store.Token(or(token, [16]byte(before.Token)))
		e.Generation, e.Attempt = or(generation, before.Generation), or(attempt, before.Attempt)
		e.WorkflowID, e.RunID = or(workflow, before.WorkflowID), or(run, before.RunID)
		entries, before = append(entries, e), e
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(entries) == 0 && r.Fence == 1 {
		entries = append(entries, r.firstClaim())
	}
	return entries, nil
}

// firstClaim is the entry that stands in the record while nobody has claimed or
// amended it since.
func (r *row) firstClaim() store.Entry {
	return store.Entry{
		Ref: r.Ref, At: r.Created, Verb: store.Claimed, To: store.InFlight, Token: r.Token, Fence: 1, Generation: 1,
		Attempt: r.Attempt, WorkflowID: r.WorkflowID, RunID: r.RunID, Who: r.who,
	}
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
