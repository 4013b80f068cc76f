package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// claimPlainly is claim: one statement if it is the first.
func (s *Store) claimPlainly(ctx context.Context, c *pgx.Conn, q store.Request) (store.Record, error) {
	// A retry will find what the attempt before left.
	for reading := q.Attempt > 1; ; reading = false {
		if !reading {
			created, err := s.insertPlainly(ctx, c, q)
			switch {
			case err != nil:
				return store.Record{}, err
			case !created.IsZero():
				return q.First(created.UTC()), nil
			}
		}
		own, other, err := s.lookPlainly(ctx, c, q.Ref, q.Scheduled)
		switch {
		case err != nil:
			return store.Record{}, err
		case other != nil:
			return other.Record, nil
		case own == nil:
			continue // nothing read, or a row that an operator has just deleted
		}
		next, changed := own.AfterClaim(q, own.Now)
		if !changed {
			return next, nil
		}
		// It is free. If another takes it first, that one is the answer.
		if written, err := s.writePlainly(ctx, c, own, next, store.Claimed, q.Who, ""); err != nil || written {
			return next, err
		}
	}
}

// insertPlainly makes a first claim. created is zero if there is a record.
func (s *Store) insertPlainly(ctx context.Context, c *pgx.Conn, q store.Request) (created time.Time, err error) {
	rows, err := c.Query(ctx, s.plain.claim,
		uuid(q.Root), hexed(q.Key[:]), q.Namespace, q.ScopeKind, q.ScopeID, q.Tenant, q.Operation, q.Intent,
		q.WorkflowID, q.RunID, q.Attempt, told(q.Who), hexed(digest(q.Scheduled)), digest(q.Fingerprint), null(q.Fields),
		uuid(q.Token), int64(q.Retention), interval(q.Lease), interval(q.Remaining), retained(q.Retention))
	if err != nil {
		return created, err
	}
	_, err = pgx.ForEachRow(rows, []any{&created}, func() error { return nil })
	return created, err
}

// lookPlainly reads the record of ref, and the one that the scheduled activity
// claimed if that is another.
func (s *Store) lookPlainly(ctx context.Context, c *pgx.Conn, ref store.Ref, scheduled store.Digest) (own, other *row, err error) {
	if scheduled != (store.Digest{}) {
		found, err := queryPlainly(ctx, c, s.plain.scheduled, hexed(scheduled[:]))
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 1 && found[0].Ref == ref {
			return &found[0], nil, nil
		}
		if len(found) == 1 {
			other = &found[0]
		}
	}
	found, err := queryPlainly(ctx, c, s.plain.get, uuid(ref.Root), hexed(ref.Key[:]))
	if err == nil && len(found) == 1 {
		own = &found[0]
	}
	return own, other, err
}

// findPlainly is find.
func (s *Store) findPlainly(ctx context.Context, c *pgx.Conn, ref store.Ref) (row, error) {
	own, _, err := s.lookPlainly(ctx, c, ref, store.Digest{})
	switch {
	case err != nil:
		return row{}, err
	case own == nil:
		return row{}, store.ErrNotFound
	}
	return *own, nil
}
