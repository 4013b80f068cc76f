package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/effectonce/effectonce/store"
)

// row is a record as it is in the table. Its version grows with every write, so
// that a row with the version it was read with is as it was read.
type row struct {
	store.Record
	version int64
	who     string // claimed last
}

// read reads what is left of rows, which select {columns} and the clock. It
// returns [store.ErrCorrupt] for a row that makes no sense.
func read(rows pgx.Rows) (found []row, err error) {
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := r.scan(rows); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// scan reads one row: {columns}, the clock, and then more, if it is wanted.
func (r *row) scan(rows pgx.Rows, more ...any) error {
	var (
		key, scheduled, fingerprint, data, context []byte
		format                                     *string
	)
	columns := []any{
		&r.Root, &key, &r.Namespace, &r.ScopeKind, &r.ScopeID, &r.Tenant, &r.Operation, &r.Intent,
		&r.WorkflowID, &r.RunID, &r.Attempt, &r.who, &scheduled, &fingerprint, &r.Fields,
		(*string)(&r.State), (*[16]byte)(&r.Token), &r.Fence, &r.Generation,
		(*zeronull.Timestamptz)(&r.Lease), (*zeronull.Timestamptz)(&r.Deadline), (*zeronull.Timestamptz)(&r.Prior),
		(*int64)(&r.Retention), &r.Created, (*zeronull.Timestamptz)(&r.Finished), (*zeronull.Timestamptz)(&r.Expires),
		&r.version, &format, &data, &context, &r.Now,
	}
	columns = append(columns, more...)
	for len(columns) < len(rows.FieldDescriptions()) {
		columns = append(columns, nil) // {durable}, which says nothing
	}
	err := rows.Scan(columns...)
	if unreadable := (pgx.ScanArgError{}); errors.As(err, &unreadable) {
		return fmt.Errorf("%w: column %d: %w", store.ErrCorrupt, unreadable.ColumnIndex+1, unreadable.Err)
	}
	if err != nil {
		return err
	}
	for _, t := range []*time.Time{&r.Lease, &r.Deadline, &r.Prior, &r.Created, &r.Finished, &r.Expires, &r.Now} {
		if !t.IsZero() {
			*t = t.UTC()
		}
	}
	if format != nil {
		r.Outcome = &store.Outcome{Format: *format, Data: data, Context: context}
	}
	var activity [timeBytes + len(r.Scheduled)]byte
	err = errors.Join(
		fill("key", r.Key[:], key, true),
		fill("scheduled", activity[:], scheduled, false),
		fill("fingerprint", r.Fingerprint[:], fingerprint, false),
		r.check(data, context))
	copy(r.Scheduled[:], activity[timeBytes:])
	return err
}

// fill copies a digest; an optional one may be null.
func fill(column string, to, from []byte, required bool) error {
	if from == nil && !required {
		return nil
	}
	if len(from) != len(to) {
		return fmt.Errorf("%w: %s has %d bytes, want %d", store.ErrCorrupt, column, len(from), len(to))
	}
	copy(to, from)
	return nil
}

func (r *row) check(data, context []byte) error {
	switch r.State {
	case store.InFlight, store.Pending:
		if r.Lease.IsZero() {
			return fmt.Errorf("%w: %s without a lease", store.ErrCorrupt, r.State)
		}
	case store.Completed, store.Failed, store.Free, store.Unknown:
	default:
		return fmt.Errorf("%w: unknown state %q", store.ErrCorrupt, r.State)
	}
	switch {
	case r.Fence < 1 || r.Generation < 1:
		return fmt.Errorf("%w: fence %d, generation %d", store.ErrCorrupt, r.Fence, r.Generation)
	case r.Done() == r.Finished.IsZero():
		return fmt.Errorf("%w: %s, but finished at %s", store.ErrCorrupt, r.State, r.Finished)
	case r.Outcome == nil && (data != nil || context != nil):
		return fmt.Errorf("%w: an outcome without a format", store.ErrCorrupt)
	case r.Outcome != nil && (!r.Done() || r.Outcome.Format == ""):
		return fmt.Errorf("%w: %s with an outcome of format %q", store.ErrCorrupt, r.State, r.Outcome.Format)
	}
	return nil
}

// own returns a copy: the caller of a report may leave before it is sent.
func own(o *store.Outcome) *store.Outcome {
	if o == nil {
		return nil
	}
	return &store.Outcome{Format: o.Format, Data: bytes.Clone(o.Data), Context: bytes.Clone(o.Context)}
}
