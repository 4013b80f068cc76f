package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// runPlainly is run.
func (ch *change) runPlainly(ctx context.Context, s *Store, c *pgx.Conn) (store.Record, error) {
	for {
		if ch.tried != nil {
			if applied, err := s.loggedPlainly(ctx, c, ch.tried, ch.verb); err != nil || applied {
				return ch.tried.Record, err
			}
		}
		var scheduled store.Digest
		if ch.activity != nil {
			copy(scheduled[:], ch.activity[timeBytes:])
		}
		own, other, err := s.lookPlainly(ctx, c, ch.ref, scheduled)
		switch {
		case err != nil:
			return store.Record{}, err
		case own == nil:
			return store.Record{}, store.ErrNotFound
		case other != nil:
			return other.Record, store.ErrConflict
		}
		next, changed, err := ch.after(own.Record)
		if !changed {
			return next, err
		}
		ch.tried = &row{Record: next, version: own.version + 1}
		written, err := s.writePlainly(ctx, c, own, next, ch.verb, ch.who, ch.why)
		if err != nil || written {
			return next, err
		}
		ch.tried = nil
	}
}

// loggedPlainly reports whether the history knows of a write whose answer was lost.
func (s *Store) loggedPlainly(ctx context.Context, c *pgx.Conn, tried *row, verb store.Verb) (applied bool, err error) {
	rows, err := c.Query(ctx, s.plain.logged,
		uuid(tried.Root), hexed(tried.Key[:]), tried.version, moment(tried.Now), string(verb))
	if err != nil {
		return false, err
	}
	var version int64
	_, err = pgx.ForEachRow(rows, []any{&version}, func() error { applied = true; return nil })
	return applied, err
}

// writePlainly is write: record and history in one transaction of two round trips.
func (s *Store) writePlainly(ctx context.Context, c *pgx.Conn, prev *row, next store.Record, verb store.Verb, who, why string) (written bool, err error) {
	err = s.pipeline(ctx, c, []statement{{beginSQL, nil, ignore}, s.update(prev, next, verb, who, &written)})
	switch {
	case state(err) == uniqueViolation: // another record has got the same scheduled activity
		return false, nil
	case err != nil:
		return false, err
	case !written:
		_, err = c.Exec(ctx, rollbackSQL)
		return false, err
	}
	return true, s.pipeline(ctx, c, append(s.log(prev, next, verb, who, why), statement{commitSQL, nil, ignore}))
}

// update writes next over prev, and says whether the row was still prev.
func (s *Store) update(prev *row, next store.Record, verb store.Verb, who string, written *bool) statement {
	format, data, codec := outcome(next.Outcome)
	claimant := prev.who
	if verb == store.Claimed || verb == store.TookOver {
		claimant = told(who)
	}
	return statement{s.plain.update, []any{
		uuid(next.Root), hexed(next.Key[:]), prev.version,
		uuid(next.Token), next.Fence, int64(next.Retention), moment(next.Expires),
		moment(next.Deadline), moment(next.Prior), next.Generation, next.Attempt,
		hexed(digest(next.Scheduled)), digest(next.Fingerprint), null(next.Fields),
		next.Namespace, next.ScopeKind, next.ScopeID, next.Tenant, next.Operation, next.Intent,
		next.WorkflowID, next.RunID, claimant, moment(next.Lease), moment(next.Finished), string(next.State),
		format, data, codec,
	}, func(rows pgx.Rows) error {
		rows.Close()
		*written = rows.CommandTag().RowsAffected() == 1
		return rows.Err()
	}}
}

// log says in the history that next was written over prev, and before that what the
// record said by itself until now: its first claim.
func (s *Store) log(prev *row, next store.Record, verb store.Verb, who, why string) []statement {
	entry := func(version int64, e store.Entry) statement {
		return statement{s.plain.log, []any{
			uuid(e.Root), hexed(e.Key[:]), version, moment(e.At), string(e.Verb), string(e.To), uuid(e.Token), e.Fence,
			e.Generation, e.Attempt, e.WorkflowID, e.RunID, told(e.Who), told(e.Why),
		}, ignore}
	}
	list := []statement{entry(prev.version+1, next.Log(&prev.Record, verb, who, why))}
	if prev.Fence == 1 && prev.Token != (store.Token{}) && next.Claim() != prev.Claim() {
		list = append([]statement{entry(1, prev.plainFirst())}, list...)
	}
	return list
}
