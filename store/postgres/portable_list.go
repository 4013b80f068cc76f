package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

func (s *Store) lookupPlainly(ctx context.Context, k key.Key) (store.Record, error) {
	found, err := reading(ctx, s, func() ([]row, error) { return queryPlainly(ctx, s.pool, s.plain.lookup, hexed(k[:])) })
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Record{}, failed("look up", k, err)
	}
	return found[0].Record, nil
}

func (s *Store) listPlainly(ctx context.Context, f store.Filter) ([]store.Record, error) {
	found, err := reading(ctx, s, func() ([]row, error) {
		return queryPlainly(ctx, s.pool, s.plain.list, uuid(f.After.Root), hexed(f.After.Key[:]), string(f.State), f.Uncertain,
			f.ScopeKind, f.ScopeID, f.Tenant, f.Operation, f.WorkflowID, f.Size())
	})
	if err != nil {
		return nil, fmt.Errorf("list: %w", explained(err))
	}
	records := make([]store.Record, len(found))
	for i := range found {
		records[i] = found[i].Record
	}
	return records, nil
}

// entriesPlainly is entries: the record before its history, as there.
func (s *Store) entriesPlainly(ctx context.Context, ref store.Ref) (entries []store.Entry, err error) {
	found, err := queryPlainly(ctx, s.pool, s.plain.get, uuid(ref.Root), hexed(ref.Key[:]))
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, s.plain.history, uuid(ref.Root), hexed(ref.Key[:]))
	if err != nil {
		return nil, err
	}
	e, version := store.Entry{Ref: ref}, int64(0)
	_, err = pgx.ForEachRow(rows, []any{
		&version, &e.At, (*string)(&e.Verb), (*string)(&e.To), (*[16]byte)(&e.Token), &e.Fence,
		&e.Generation, &e.Attempt, &e.WorkflowID, &e.RunID, &e.Who, &e.Why,
	}, func() error {
		if len(entries) == 0 && version > 1 {
			entries = append(entries, found[0].plainFirst())
		}
		e.At, e.From = e.At.UTC(), ""
		if n := len(entries); n > 0 {
			e.From = entries[n-1].To
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, unreadable(err)
	}
	if len(entries) == 0 {
		entries = append(entries, found[0].plainFirst())
	}
	return entries, nil
}

// plainFirst is the entry of the first claim, which stands in the record while nobody
// has claimed or amended it since.
func (r *row) plainFirst() store.Entry {
	return store.Entry{
		Ref: r.Ref, At: r.Created, Verb: store.Claimed, To: store.InFlight, Token: r.Token, Fence: 1, Generation: 1,
		Attempt: r.Attempt, WorkflowID: r.WorkflowID, RunID: r.RunID, Who: r.who,
	}
}
