package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

const tellerSQL = `
SELECT {columns}, clock_timestamp(), tells_claim, tells_end, ended_by, ended_why, dropped FROM {records} WHERE root = $1 AND key = $2`

const historySQL = `
SELECT at, version, fence, verb, state, token, generation, attempt, workflow_id, run_id, who, why
FROM {history} WHERE root = $1 AND key = $2 ORDER BY version`

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	entries, err := reading(ctx, s, func() ([]store.Entry, error) { return s.entries(ctx, ref) })
	return entries, failed("history of", ref.Key, err)
}

func (s *Store) entries(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	if s.opts.Portable {
		return s.entriesPlainly(ctx, ref)
	}
	// The record before its history: what the record tells may be written into the
	// history in between, and then shows in both, with the same version.
	told, err := s.told(ctx, ref)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, s.text.history, uuid(ref.Root), ref.Key[:])
	if err != nil {
		return nil, err
	}
	written, err := pgx.CollectRows(rows, func(rows pgx.CollectableRow) (e entry, err error) {
		e.Ref = ref
		err = rows.Scan(&e.At, &e.version, &e.Fence, (*string)(&e.Verb), (*string)(&e.To),
			&e.token, &e.generation, &e.attempt, &e.workflow, &e.run, &e.Who, &e.Why)
		return e, err
	})
	if unreadable := (pgx.ScanArgError{}); errors.As(err, &unreadable) {
		err = fmt.Errorf("%w: history: %w", store.ErrCorrupt, err)
	}
	if err != nil {
		return nil, err
	}
	return inOrder(written, told), nil
}

// entry is a line of the history. What is nil is as in the line before.
type entry struct {
	store.Entry
	version             int64
	token               *[16]byte
	generation, attempt *int
	workflow, run       *string
}

// told returns what the record itself tells: its first claim, how it finished, and when
// its outcome was dropped.
func (s *Store) told(ctx context.Context, ref store.Ref) (entries []entry, err error) {
	rows, err := s.pool.Query(ctx, s.text.teller, uuid(ref.Root), ref.Key[:])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, cmp.Or(rows.Err(), store.ErrNotFound)
	}
	var r row
	var claim, end *bool
	var by, why *string
	var dropped *time.Time
	if err := r.scan(rows, &claim, &end, &by, &why, &dropped); err != nil {
		return nil, err
	}
	is := func(version int64, e store.Entry) {
		entries = append(entries, entry{e, version, (*[16]byte)(&e.Token), &e.Generation, &e.Attempt, &e.WorkflowID, &e.RunID})
	}
	if or(claim, false) {
		is(1, r.firstClaim())
	}
	if or(end, false) {
		last, verb, version := r.Record, store.Complete, r.version
		if r.State == store.Failed {
			verb = store.Fail
		}
		if dropped != nil {
			version-- // of that
		}
		last.Now = r.Finished
		is(version, last.Log(nil, verb, or(by, r.who), or(why, "")))
	}
	if dropped != nil {
		r.Now = *dropped
		is(r.version, r.Log(nil, store.Expired, "", ""))
	}
	return entries, nil
}

// firstClaim is the entry of the first claim, as long as there was no other.
func (r *row) firstClaim() store.Entry {
	first := r.Record
	first.Now, first.State, first.Generation = r.Created, store.InFlight, 1
	return first.Log(nil, store.Claimed, r.who, "")
}

// inOrder merges two lists and fills in what an entry has in common with the one
// before it.
func inOrder(written, told []entry) (entries []store.Entry) {
	all := slices.Concat(written, told)
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.version, b.version) })
	all = slices.CompactFunc(all, func(a, b entry) bool { return a.version == b.version })
	var before store.Entry
	for _, e := range all {
		e.At, e.From = e.At.UTC(), before.To
		e.Token = store.Token(or(e.token, [16]byte(before.Token)))
		e.Generation, e.Attempt = or(e.generation, before.Generation), or(e.attempt, before.Attempt)
		e.WorkflowID, e.RunID = or(e.workflow, before.WorkflowID), or(e.run, before.RunID)
		entries, before = append(entries, e.Entry), e.Entry
	}
	return entries
}

func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
