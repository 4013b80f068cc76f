package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Lookup implements [store.Lister]. It goes through the index of all records.
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
	now := now()
	rows, err := s.reads.QueryContext(ctx, "SELECT id, "+columns+" FROM records WHERE key = ?", k[:])
	r, err := one(rows, err, now)
	return r.Record, s.explain(fmt.Sprintf("look up %s", k), err)
}

// List implements [store.Lister].
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	now := now()
	query := "SELECT id, " + columns + " FROM records WHERE (root, key) > (?, ?)"
	args := []any{f.After.Root[:], f.After.Key[:]}
	for _, equal := range []struct{ column, value string }{
		{"state", string(f.State)}, {"scope_kind", f.ScopeKind}, {"scope_id", f.ScopeID}, {"tenant", f.Tenant},
		{"operation", f.Operation}, {"workflow_id", f.WorkflowID},
	} {
		if equal.value != "" {
			query += " AND " + equal.column + " = ?"
			args = append(args, equal.value)
		}
	}
	if f.Uncertain {
		query += " AND (state = 'unknown' OR state IN ('in_flight', 'pending') AND lease <= ?)"
		args = append(args, now.UnixMicro())
	}
	query += " ORDER BY root, key LIMIT ?"
	rows, err := s.reads.QueryContext(ctx, query, append(args, f.Size())...)
	if err != nil {
		return nil, s.explain("list", err)
	}
	all, err := records(rows, now)
	if err != nil {
		return nil, s.explain("list", err)
	}
	page := make([]store.Record, len(all))
	for i, r := range all {
		page[i] = r.Record
	}
	return page, nil
}

// records reads and closes rows. With [store.ErrCorrupt] it returns those that can
// be read.
func records(rows *sql.Rows, now time.Time) (all []row, err error) {
	defer rows.Close() //nolint:errcheck // Err has it
	var unreadable error
	for rows.Next() {
		r, err := scan(rows, now)
		switch {
		case errors.Is(err, store.ErrCorrupt):
			unreadable = err
		case err != nil:
			return nil, err
		default:
			all = append(all, r)
		}
	}
	return all, errors.Join(unreadable, rows.Err())
}

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	r, err := s.get(ctx, ref)
	if err != nil {
		return nil, s.explain("history", err)
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT at, verb, from_state, to_state, token, fence, generation, attempt,
		workflow_id, run_id, who, why FROM history WHERE record = ? ORDER BY n`, r.id)
	if err != nil {
		return nil, s.explain("history", err)
	}
	defer rows.Close() //nolint:errcheck // Err has it
	var all []store.Entry
	for rows.Next() {
		e := store.Entry{Ref: ref}
		var at sql.NullInt64
		var token []byte
		if err := rows.Scan(&at, &e.Verb, &e.From, &e.To, &token, &e.Fence, &e.Generation, &e.Attempt,
			&e.WorkflowID, &e.RunID, &e.Who, &e.Why); err != nil {
			return nil, s.explain("history", err)
		}
		if e.At = toTime(at); !fillOrNone(e.Token[:], token) {
			return nil, fmt.Errorf("sqlite: history of %s: %w", ref.Key, store.ErrCorrupt)
		}
		all = append(all, e)
	}
	return all, s.explain("history", rows.Err())
}

// Sweep implements [store.Janitor].
func (s *Store) Sweep(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, "state IN ('in_flight', 'pending') AND lease <= ?", "lease", store.Swept, store.Record.AfterSweep)
}

// Expire implements [store.Janitor].
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	return s.tidy(ctx, limit, "outcome_format IS NOT NULL AND expires IS NOT NULL AND expires <= ?1 AND finished + retention / 1000 <= ?1",
		"expires", store.Expired, store.Record.AfterExpire)
}

// tidy changes at most limit of the records that the predicate finds. The state
// machine has the last word about each.
func (s *Store) tidy(ctx context.Context, limit int, predicate, order string, verb store.Verb,
	after func(store.Record, time.Time) (store.Record, bool),
) (n int, err error) {
	if err := store.ValidateLimit(limit); err != nil {
		return 0, err
	}
	query := "SELECT id, " + columns + " FROM records WHERE " + predicate + " ORDER BY " + order + " LIMIT " + fmt.Sprint(limit)
	err = s.writer.do(ctx, func(t tx) error {
		n = 0
		now := now()
		rows, err := t.conn.QueryContext(context.WithoutCancel(ctx), query, now.UnixMicro())
		if err != nil {
			return err
		}
		due, unreadable := records(rows, now)
		if unreadable != nil && !refused(unreadable) {
			return unreadable
		}
		for _, prev := range due {
			next, changed := after(prev.Record, now)
			if !changed {
				continue
			}
			if err := t.changed(prev, next, verb, "", ""); err != nil {
				return err
			}
			n++
		}
		return unreadable // a record that cannot be read does not keep the others
	})
	return n, s.explain(string(verb), err)
}
