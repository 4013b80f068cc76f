package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/effectonce/effectonce/store"
)

// columns are those of a record, in the order in which values gives and scan takes them.
const columns = "root, key, namespace, scope_kind, scope_id, tenant, operation, intent, workflow_id, run_id, attempt, " +
	"scheduled, fingerprint, fields, state, token, fence, generation, lease, deadline, prior, " +
	"outcome_format, outcome_data, outcome_context, retention, created, finished, expires"

// changeable are the columns that anything but a claim can change. Only they are
// written then, so that the indexes on the others are left alone.
const changeable = "fingerprint, fields, state, token, generation, lease, deadline, prior, " +
	"outcome_format, outcome_data, outcome_context, finished"

// marks are the placeholders for a list of columns.
func marks(columns string) string {
	return strings.TrimSuffix(strings.Repeat("?, ", strings.Count(columns, ",")+1), ", ")
}

// values are what is stored of r, for columns.
func values(r store.Record) []any {
	format, data, context := ofOutcome(r.Outcome)
	return []any{
		r.Root[:], r.Key[:], r.Namespace, r.ScopeKind, r.ScopeID, r.Tenant, r.Operation, r.Intent, r.WorkflowID, r.RunID, r.Attempt,
		ofDigest(r.Scheduled), ofDigest(r.Fingerprint), ofBytes(r.Fields), string(r.State), ofToken(r.Token), r.Fence, r.Generation,
		ofTime(r.Lease), ofTime(r.Deadline), ofTime(r.Prior),
		format, data, context, int64(r.Retention), ofTime(r.Created), ofTime(r.Finished), ofTime(r.Expires),
	}
}

// changes are what is stored of r, for changeable.
func changes(r store.Record) []any {
	format, data, context := ofOutcome(r.Outcome)
	return []any{
		ofDigest(r.Fingerprint), ofBytes(r.Fields), string(r.State), ofToken(r.Token), r.Generation,
		ofTime(r.Lease), ofTime(r.Deadline), ofTime(r.Prior), format, data, context, ofTime(r.Finished),
	}
}

// row is a record and the number of its row.
type row struct {
	id int64
	store.Record
}

// one reads a single row of "id, "+columns; no row is [store.ErrNotFound].
func one(rows *sql.Rows, err error, now time.Time) (row, error) {
	if err != nil {
		return row{}, err
	}
	defer rows.Close() //nolint:errcheck // Err has it
	if !rows.Next() {
		if rows.Err() != nil {
			return row{}, rows.Err()
		}
		return row{}, store.ErrNotFound
	}
	return scan(rows, now)
}

// scan reads the row that rows are at. One that makes no sense is [store.ErrCorrupt].
func scan(rows *sql.Rows, now time.Time) (row, error) {
	var r row
	var root, k, scheduled, fingerprint, token []byte
	var lease, deadline, prior, created, finished, expires sql.NullInt64
	var format sql.NullString
	var o store.Outcome
	err := rows.Scan(&r.id, &root, &k, &r.Namespace, &r.ScopeKind, &r.ScopeID, &r.Tenant, &r.Operation, &r.Intent,
		&r.WorkflowID, &r.RunID, &r.Attempt, &scheduled, &fingerprint, &r.Fields, &r.State, &token, &r.Fence, &r.Generation,
		&lease, &deadline, &prior, &format, &o.Data, &o.Context, &r.Retention, &created, &finished, &expires)
	switch {
	case err != nil && rows.Err() != nil: // the context is done, or the store is closed
		return row{}, rows.Err()
	case err != nil:
		return row{}, fmt.Errorf("row %d: %w: %w", r.id, store.ErrCorrupt, err)
	}
	whole := fill(r.Root[:], root) && fill(r.Key[:], k) && fillOrNone(r.Scheduled[:], scheduled) &&
		fillOrNone(r.Fingerprint[:], fingerprint) && fillOrNone(r.Token[:], token)
	r.Lease, r.Deadline, r.Prior = toTime(lease), toTime(deadline), toTime(prior)
	r.Created, r.Finished, r.Expires = toTime(created), toTime(finished), toTime(expires)
	if format.Valid {
		o.Format = format.String
		r.Outcome = &o
	}
	r.Now = now
	if !whole || !sensible(r.Record) {
		return row{}, fmt.Errorf("row %d: %w", r.id, store.ErrCorrupt)
	}
	return r, nil
}

// sensible reports whether r is a record that the state machine can have made.
func sensible(r store.Record) bool {
	switch r.State {
	case store.InFlight, store.Pending:
		if r.Lease.IsZero() {
			return false
		}
	case store.Completed, store.Failed, store.Free, store.Unknown:
	default:
		return false
	}
	return r.Fence >= 1 && r.Generation >= 1 && !r.Created.IsZero() && r.Retention >= 0 &&
		r.Done() != r.Finished.IsZero() && (r.Outcome == nil || r.Done() && r.Outcome.Format != "")
}

func fill(into, from []byte) bool { return copy(into, from) == len(into) && len(from) == len(into) }

func fillOrNone(into, from []byte) bool { return from == nil || fill(into, from) }

func ofTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func toTime(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

func ofDigest(d store.Digest) any {
	if d == (store.Digest{}) {
		return nil
	}
	return d[:]
}

func ofToken(t store.Token) any {
	if t == (store.Token{}) {
		return nil
	}
	return t[:]
}

func ofBytes(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

func ofOutcome(o *store.Outcome) (format, data, context any) {
	if o == nil {
		return nil, nil, nil
	}
	return o.Format, ofBytes(o.Data), ofBytes(o.Context)
}

// own returns r with bytes that nobody else holds.
func own(r store.Record) store.Record {
	r.Fields = bytes.Clone(r.Fields)
	if o := r.Outcome; o != nil {
		r.Outcome = &store.Outcome{Format: o.Format, Data: bytes.Clone(o.Data), Context: bytes.Clone(o.Context)}
	}
	return r
}
