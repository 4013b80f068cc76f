package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// A claim is one round trip of two statements, each of which sees what was
// committed before it began. The first inserts the record, unless one of the same
// key or of the same scheduled activity is there; it waits for a rival that has
// not committed yet. The second reads what is there, the rival's record included.
// As one statement they would share one view of the data, in which a loser finds
// neither its own record nor the rival's.

const claimSQL = `
WITH {clock}, won AS (
	INSERT INTO {records} (root, key, namespace, scope_kind, scope_id, tenant, operation, intent,
		workflow_id, run_id, attempt, who, scheduled, fingerprint, fields, token, retention,
		lease, deadline, expires, created, active_since, state, fence, generation, version, tells_claim)
	SELECT $1::uuid, $2::bytea, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text,
		$9::text, $10::text, $11::integer, $12::text, $13::bytea, $14::bytea, $15::bytea, $16::uuid, $17::bigint,
		now + $18::interval, now + $19::interval, now + $20::interval, now, now, 'in_flight', 1, 1, 1, true
	FROM clock
	ON CONFLICT DO NOTHING
	RETURNING created
)
SELECT created, {durable} FROM won`

// At most two: the record of the key, unless it is of the token, and the one of the
// scheduled activity.
const seenSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE root = $1 AND key = $2 AND token IS DISTINCT FROM $4
UNION ALL
SELECT {columns}, clock_timestamp() FROM {records} WHERE scheduled = $3 AND (root, key) <> ($1, $2)`

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := checkRequest(q); err != nil {
		return store.Record{}, err
	}
	q.Fields = bytes.Clone(q.Fields) // the caller may leave before it is sent
	r, err := s.owning(ctx, q, store.Release, func(j *job) error {
		j.claim = &q
		j.alone = func(ctx context.Context, c *pgx.Conn) (store.Record, error) { return s.claim(ctx, c, q) }
		return s.submit(j)
	})
	return r, failed("claim", q.Key, err)
}

func (s *Store) claim(ctx context.Context, c *pgx.Conn, q store.Request) (store.Record, error) {
	if s.opts.Portable {
		return s.claimPlainly(ctx, c, q)
	}
	// A retry will find what the attempt before left: reading is cheaper.
	for reading := q.Attempt > 1; ; reading = !reading {
		var created time.Time
		var own, other *row
		var err error
		if reading {
			err = s.send(ctx, c, s.seen(q.Ref, activity(q.Scheduled, q.RunID), nil, &own, &other))
		} else {
			created, own, other, err = s.insert(ctx, c, q)
		}
		switch {
		case err != nil:
			return store.Record{}, err
		case !created.IsZero():
			won := q.First(created.UTC())
			s.recent.add(&won)
			return won, nil
		case other != nil:
			return other.Record, nil
		case own == nil:
			continue // nothing read; or what hindered the insertion is an earlier try of ours, or gone
		}
		next, changed := own.AfterClaim(q, own.Now)
		if !changed {
			return next, nil
		}
		// It is free. If another takes it first, that one is the answer.
		if written, err := s.write(ctx, c, own, next, store.Claimed, q.Who, ""); err != nil || written {
			return next, err
		}
		reading = false // again
	}
}

// insert sends the two statements. If created is not zero, the claim is won.
func (s *Store) insert(ctx context.Context, c *pgx.Conn, q store.Request) (created time.Time, own, other *row, err error) {
	err = s.send(ctx, c,
		statement{s.text.claim, []any{
			uuid(q.Root), q.Key[:], q.Namespace, q.ScopeKind, q.ScopeID, q.Tenant, q.Operation, q.Intent,
			q.WorkflowID, q.RunID, q.Attempt, told(q.Who), activity(q.Scheduled, q.RunID), digest(q.Fingerprint), null(q.Fields),
			uuid(q.Token), int64(q.Retention), interval(q.Lease), interval(q.Remaining), retained(q.Retention),
		}, func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				if err := rows.Scan(&created, nil); err != nil {
					return err
				}
			}
			return rows.Err()
		}},
		s.seen(q.Ref, activity(q.Scheduled, q.RunID), uuid(q.Token), &own, &other))
	return created, own, other, err
}

// seen reads the record of ref, unless it is of the token but, and the one that the
// scheduled activity claimed if that is another.
func (s *Store) seen(ref store.Ref, activity []byte, but any, own, other **row) statement {
	return statement{s.text.seen, []any{uuid(ref.Root), ref.Key[:], activity, but}, func(rows pgx.Rows) error {
		found, err := read(rows)
		if err != nil {
			return err
		}
		for i := range found {
			if r := &found[i]; r.Ref == ref {
				*own = r
			} else {
				*other = r
			}
		}
		return nil
	}}
}
