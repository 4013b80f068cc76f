package postgres

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// What is not worth a statement of its own is read, decided by the state machine
// of package store, and written if the row is still as it was read. Nothing is
// locked in between; who comes second looks again.

const writeSQL = `
WITH was AS (
	SELECT * FROM {records} WHERE root = $1 AND key = $2 AND version = $3
), changed AS (
	UPDATE {records} SET
		token = $4, fence = $5, retention = $6, expires = $7, deadline = $8, prior = $9, generation = $10, attempt = $11,
		look_again = CASE WHEN expires IS DISTINCT FROM $7 THEN NULL
			WHEN look_again = 'infinity' OR dropped IS NOT NULL THEN CASE WHEN $25::timestamptz IS NULL THEN 'infinity' ELSE $30::timestamptz END
			ELSE look_again END,
		dropped = NULL, scheduled = $12, fingerprint = $13, fields = $14,
		namespace = $15, scope_kind = $16, scope_id = $17, tenant = $18, operation = $19, intent = $20,
		workflow_id = $21, run_id = $22, who = $23, tells_claim = NULL, tells_end = NULL, ended_by = NULL, ended_why = NULL,
		active_since = CASE WHEN $31 IN ('claim', 'take_over') THEN $30 ELSE active_since END,
		version = version + 1, lease = $24, finished = $25, state = $26,
		outcome_format = $27, outcome_data = $28, outcome_context = $29
	WHERE root = $1 AND key = $2 AND version = $3
	RETURNING version, waited_for, key -- a mark may have come after the reading
), logged AS (
	INSERT INTO {history} (at, version, fence, token, root, generation, attempt, key, verb, state,
		workflow_id, run_id, who, why)
	-- What the row told until now; a statement does not see its own changes.
	SELECT created, 1, 1, token, root, 1, attempt, key, 'claim', 'in_flight', workflow_id, run_id, who, ''
	FROM was WHERE tells_claim AND EXISTS (SELECT FROM changed)
	UNION ALL
	SELECT finished, version - (dropped IS NOT NULL)::int, fence, NULL, root, NULL, NULL, key, CASE state WHEN 'completed' THEN 'complete' ELSE 'fail' END, state,
		NULL, NULL, coalesce(ended_by, who), coalesce(ended_why, '')
	FROM was WHERE tells_end AND EXISTS (SELECT FROM changed)
	UNION ALL
	SELECT dropped, version, fence, NULL, root, NULL, NULL, key, 'expire', state, NULL, NULL, '', ''
	FROM was WHERE dropped IS NOT NULL AND EXISTS (SELECT FROM changed)
	UNION ALL
	SELECT $30, version, $5, $4, $1, $10, $11, $2, $31, $26, $21, $22, $32, $33 FROM changed
)
SELECT {durable}, {notify} FROM changed`

const loggedSQL = `
SELECT FROM {history} WHERE root = $1 AND key = $2 AND version = $3 AND at = $4 AND verb = $5`

// write writes next over prev, and says so in the history. It reports false, and
// has written nothing, if the row is no longer prev or another record has meanwhile
// got the same scheduled activity.
func (s *Store) write(ctx context.Context, c *pgx.Conn, prev *row, next store.Record, verb store.Verb, who, why string) (written bool, err error) {
	format, data, codec := outcome(next.Outcome)
	claimant := prev.who
	if verb == store.Claimed || verb == store.TookOver {
		claimant = told(who)
	}
	err = s.send(ctx, c, statement{s.text.write, []any{
		uuid(next.Root), next.Key[:], prev.version,
		uuid(next.Token), next.Fence, int64(next.Retention), moment(next.Expires),
		moment(next.Deadline), moment(next.Prior), next.Generation, next.Attempt,
		activity(next.Scheduled, next.RunID), digest(next.Fingerprint), null(next.Fields),
		next.Namespace, next.ScopeKind, next.ScopeID, next.Tenant, next.Operation, next.Intent,
		next.WorkflowID, next.RunID, claimant,
		moment(next.Lease), moment(next.Finished), string(next.State), format, data, codec,
		moment(next.Now), string(verb), told(who), told(why),
	}, func(rows pgx.Rows) error {
		defer rows.Close()
		written = rows.Next()
		for rows.Next() {
		}
		return rows.Err()
	}})
	if state(err) == uniqueViolation {
		return false, nil
	}
	return written && err == nil, err
}

// change is one change of a record by the state machine.
type change struct {
	ref      store.Ref
	activity []byte // whose other record, if there is one, is the answer
	verb     store.Verb
	who, why string
	after    func(store.Record) (next store.Record, changed bool, err error)

	// tried is what was last written, and not known to be refused.
	tried *row
}

// run makes the change. It may be run again after an error.
func (ch *change) run(ctx context.Context, s *Store, c *pgx.Conn) (store.Record, error) {
	if s.opts.Portable {
		return ch.runPlainly(ctx, s, c)
	}
	for {
		if ch.tried != nil {
			if applied, err := s.logged(ctx, c, ch.tried, ch.verb); err != nil || applied {
				return ch.tried.Record, err
			}
		}
		var own, other *row
		err := s.send(ctx, c, s.seen(ch.ref, ch.activity, nil, &own, &other))
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
		written, err := s.write(ctx, c, own, next, ch.verb, ch.who, ch.why)
		if err != nil || written {
			return next, err
		}
		ch.tried = nil
	}
}

// logged reports whether the history knows of a write whose answer was lost.
func (s *Store) logged(ctx context.Context, c *pgx.Conn, tried *row, verb store.Verb) (applied bool, err error) {
	rows, err := c.Query(ctx, s.text.logged, uuid(tried.Root), tried.Key[:], tried.version, moment(tried.Now), string(verb))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	applied = rows.Next()
	rows.Close()
	return applied, rows.Err()
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := checkRequest(q); err != nil {
		return store.Record{}, err
	}
	q.Fields = bytes.Clone(q.Fields)
	ch := change{
		ref: q.Ref, activity: activity(q.Scheduled, q.RunID), verb: store.TookOver, who: q.Who,
		after: func(r store.Record) (store.Record, bool, error) { return r.AfterTakeOver(q, seen, r.Now) },
	}
	r, err := s.owning(ctx, q, store.MarkUnknown, func(j *job) error {
		j.alone = func(ctx context.Context, c *pgx.Conn) (store.Record, error) { return ch.run(ctx, s, c) }
		return s.submit(j)
	})
	return r, failed("take over", q.Key, err)
}

// Amend implements [store.Store].
func (s *Store) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if err := c.ValidateAmend(seen); err != nil {
		return store.Record{}, err
	}
	if err := checkOutcome(c.Outcome); err != nil {
		return store.Record{}, err
	}
	c.Outcome = own(c.Outcome)
	ch := change{
		ref: seen.Ref, verb: c.Verb, who: c.Who, why: c.Why,
		after: func(r store.Record) (store.Record, bool, error) { return r.AfterAmend(seen, c, r.Now) },
	}
	r, err := s.do(ctx, job{alone: func(ctx context.Context, c *pgx.Conn) (store.Record, error) { return ch.run(ctx, s, c) }})
	return r, failed("amend", seen.Key, err)
}
