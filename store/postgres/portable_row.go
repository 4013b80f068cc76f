package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/effectonce/effectonce/store"
)

// plainColumns are what [row.scanPlainly] reads, before the clock.
const plainColumns = `root, key_hex, namespace, scope_kind, scope_id, tenant, operation, intent,
	workflow_id, run_id, attempt, who, scheduled_hex, fingerprint, fields,
	state, token, fence, generation, lease, deadline, prior, retention, created, finished, expires, version,
	outcome_format, outcome_data, outcome_context`

// hexed is a digest as it is kept. Not all engines index bytea.
func hexed(digest []byte) pgtype.Text { return text(hex.EncodeToString(digest)) }

// querier is a connection or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// queryPlainly reads rows. It returns [store.ErrCorrupt] for one that makes no sense.
func queryPlainly(ctx context.Context, c querier, sql string, args ...any) ([]row, error) {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(from pgx.CollectableRow) (r row, err error) {
		err = r.scanPlainly(from)
		return r, err
	})
}

func (r *row) scanPlainly(from pgx.CollectableRow) error {
	var (
		key                        string
		scheduled, format          *string
		fingerprint, data, context []byte
	)
	err := unreadable(from.Scan(
		&r.Root, &key, &r.Namespace, &r.ScopeKind, &r.ScopeID, &r.Tenant, &r.Operation, &r.Intent,
		&r.WorkflowID, &r.RunID, &r.Attempt, &r.who, &scheduled, &fingerprint, &r.Fields,
		(*string)(&r.State), (*[16]byte)(&r.Token), &r.Fence, &r.Generation,
		(*zeronull.Timestamptz)(&r.Lease), (*zeronull.Timestamptz)(&r.Deadline), (*zeronull.Timestamptz)(&r.Prior),
		(*int64)(&r.Retention), &r.Created, (*zeronull.Timestamptz)(&r.Finished), (*zeronull.Timestamptz)(&r.Expires),
		&r.version, &format, &data, &context, &r.Now,
	))
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
	return errors.Join(
		unhexed("key_hex", r.Key[:], &key),
		unhexed("scheduled_hex", r.Scheduled[:], scheduled),
		fill("fingerprint", r.Fingerprint[:], fingerprint, false),
		r.check(data, context))
}

// unreadable says of an error in reading a row whether it is the row's.
func unreadable(err error) error {
	var refused *pgconn.PgError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}

func unhexed(column string, to []byte, from *string) error {
	if from == nil {
		return nil
	}
	digest, err := hex.DecodeString(*from)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrCorrupt, column, err)
	}
	return fill(column, to, digest, true)
}
