package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

// The statements of a flush. They say what those for one job say, in claim.go and
// report.go, for rows that come as one array per column.

const claimAllSQL = `
WITH {clock}, won AS (
	INSERT INTO {records} (root, key, namespace, scope_kind, scope_id, tenant, operation, intent,
		workflow_id, run_id, attempt, who, scheduled, fingerprint, fields, token, retention,
		lease, deadline, expires, created, active_since, state, fence, generation, version, tells_claim)
	SELECT a.root, a.key, a.namespace, a.scope_kind, a.scope_id, a.tenant, a.operation, a.intent,
		a.workflow_id, a.run_id, a.attempt, a.who, a.scheduled, a.fingerprint, a.fields, a.token, a.retention,
		now + a.lease, now + a.remaining, now + a.retained, now, now, 'in_flight', 1, 1, 1, true
	FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
			$9::text[], $10::text[], $11::integer[], $12::text[], $13::bytea[], $14::bytea[], $15::bytea[],
			$16::uuid[], $17::bigint[], $18::interval[], $19::interval[], $20::interval[])
		AS a (root, key, namespace, scope_kind, scope_id, tenant, operation, intent,
			workflow_id, run_id, attempt, who, scheduled, fingerprint, fields,
			token, retention, lease, remaining, retained), clock
	ON CONFLICT DO NOTHING
	RETURNING created, token
)
SELECT token, created FROM won`

func (s *Store) claimAll(jobs []*job) group {
	byToken := make(map[store.Token]*job, len(jobs))
	for _, j := range jobs {
		byToken[j.claim.Token] = j
	}
	a := arraysFor(jobs)
	a.uuids(func(j *job) [16]byte { return j.claim.Root })
	a.blobs(func(j *job) []byte { return j.claim.Key[:] })
	a.texts(func(j *job) string { return j.claim.Namespace })
	a.texts(func(j *job) string { return j.claim.ScopeKind })
	a.texts(func(j *job) string { return j.claim.ScopeID })
	a.texts(func(j *job) string { return j.claim.Tenant })
	a.texts(func(j *job) string { return j.claim.Operation })
	a.texts(func(j *job) string { return j.claim.Intent })
	a.texts(func(j *job) string { return j.claim.WorkflowID })
	a.texts(func(j *job) string { return j.claim.RunID })
	a.integers(func(j *job) int32 { return int32(j.claim.Attempt) })
	a.texts(func(j *job) string { return told(j.claim.Who) })
	a.blobs(func(j *job) []byte { return activity(j.claim.Scheduled, j.claim.RunID) })
	a.blobs(func(j *job) []byte { return digest(j.claim.Fingerprint) })
	a.blobs(func(j *job) []byte { return null(j.claim.Fields) })
	a.uuids(func(j *job) [16]byte { return j.claim.Token })
	a.bigints(func(j *job) int64 { return int64(j.claim.Retention) })
	a.intervals(func(j *job) pgtype.Interval { return interval(j.claim.Lease) })
	a.intervals(func(j *job) pgtype.Interval { return interval(j.claim.Remaining) })
	a.intervals(func(j *job) pgtype.Interval { return retained(j.claim.Retention) })
	return group{s.text.claimAll, a, func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var token store.Token
			var created time.Time
			if err := rows.Scan((*[16]byte)(&token), &created); err != nil {
				return err
			}
			if j := byToken[token]; j != nil {
				j.found(j.claim.First(created.UTC()))
			}
		}
		return rows.Err()
	}}
}

const endAllSQL = `
UPDATE {records} SET state = becomes, lease = NULL, version = version + 1, finished = clock_timestamp(),
	outcome_format = format, outcome_data = data, outcome_context = context, {look again},
	tells_end = true, ended_by = nullif(said_by, who), ended_why = nullif(why, '')
FROM unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[],
		$9::bytea[], $10::bytea[]) WITH ORDINALITY
	AS said (at_root, at_key, by_token, by_fence, becomes, said_by, why, format, data, context, n)
WHERE root = at_root AND key = at_key AND token = by_token AND fence = by_fence AND state NOT IN ('completed', 'failed')
RETURNING n, version, finished, {notify}`

// ends is the state after the reports that tell an outcome.
var ends = map[store.Verb]store.State{store.Complete: store.Completed, store.Fail: store.Failed}

func (s *Store) endAll(jobs []*job) group {
	a := arraysFor(jobs)
	a.held()
	a.texts(func(j *job) string { return string(ends[j.report.Verb]) })
	a.texts(func(j *job) string { return told(j.report.Who) })
	a.texts(func(j *job) string { return told(j.report.Why) })
	a.texts(func(j *job) string { return j.report.Outcome.Format })
	a.blobs(func(j *job) []byte { return null(j.report.Outcome.Data) })
	a.blobs(func(j *job) []byte { return null(j.report.Outcome.Context) })
	return group{s.text.endAll, a, func(rows pgx.Rows) error {
		var n int
		var version int64
		var finished time.Time
		_, err := pgx.ForEachRow(rows, []any{&n, &version, &finished, nil}, func() error {
			j := jobs[n-1]
			if next, known := j.report.ended(version, finished); known {
				j.found(next)
			}
			return nil
		})
		return err
	}}
}

const reportAllSQL = `
WITH {clock}, changed AS (
	UPDATE {records} SET state = becomes, lease = NULL, version = version + 1
	FROM unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY
		AS said (at_root, at_key, by_token, by_fence, verb, becomes, said_by, why, n), clock
	WHERE root = at_root AND key = at_key AND token = by_token AND fence = by_fence AND state = 'in_flight'
	RETURNING {columns but outcome}, now, n, verb, said_by, why, waited_for
), logged AS (
	INSERT INTO {history} (at, version, fence, root, key, verb, state, who, why)
	SELECT now, version, fence, root, key, verb, state, said_by, why FROM changed
)
SELECT {columns but outcome}, NULL::text, NULL::bytea, NULL::bytea, now, n, {notify} FROM changed`

// stops is the state after the other reports that can be done together.
var stops = map[store.Verb]store.State{store.Release: store.Free, store.MarkUnknown: store.Unknown}

func (s *Store) reportAll(jobs []*job) group {
	a := arraysFor(jobs)
	a.held()
	a.texts(func(j *job) string { return string(j.report.Verb) })
	a.texts(func(j *job) string { return string(stops[j.report.Verb]) })
	a.texts(func(j *job) string { return told(j.report.Who) })
	a.texts(func(j *job) string { return told(j.report.Why) })
	return group{s.text.reportAll, a, func(rows pgx.Rows) error {
		return each(rows, func(r row, n int) { jobs[n].found(r.Record) })
	}}
}

// held adds what names the claim that is reported on.
func (a *arrays) held() {
	a.uuids(func(j *job) [16]byte { return j.report.held.Root })
	a.blobs(func(j *job) []byte { return j.report.held.Key[:] })
	a.uuids(func(j *job) [16]byte { return j.report.held.Token })
	a.bigints(func(j *job) int64 { return j.report.held.Fence })
}

const seenAllSQL = `
WITH asked AS MATERIALIZED (
	SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS a (at_root, at_key, at_scheduled, n)
)
SELECT {columns}, clock_timestamp(), n FROM asked JOIN {records} ON root = at_root AND key = at_key
UNION ALL
SELECT {columns}, clock_timestamp(), n FROM asked JOIN {records} ON scheduled = at_scheduled AND (root, key) <> (at_root, at_key)`

// seenAll answers claims of records that stay as they are, and reports that have been
// written before.
func (s *Store) seenAll(jobs []*job) group {
	a := arraysFor(jobs)
	a.uuids(func(j *job) [16]byte { return j.ref().Root })
	a.blobs(func(j *job) []byte { k := j.ref().Key; return k[:] })
	a.blobs(func(j *job) []byte {
		if j.claim == nil {
			return nil
		}
		return activity(j.claim.Scheduled, j.claim.RunID)
	})
	return group{s.text.seenAll, a, func(rows pgx.Rows) error {
		return each(rows, func(r row, n int) {
			j := jobs[n]
			switch {
			case j.report != nil:
				if next, changed, err := r.AfterReport(j.report.held, j.report.Change, r.Now); err == nil && !changed {
					j.found(j.report.asWritten(next))
				}
			case r.Ref != j.claim.Ref:
				j.found(r.Record)
			case j.answer == nil: // no other record belongs to the scheduled activity
				if next, changed := r.AfterClaim(*j.claim, r.Now); !changed {
					j.found(next)
				}
			}
		})
	}}
}

// each hands over rows that end with their number, from 1, of what was sent.
func each(rows pgx.Rows, f func(r row, n int)) error {
	defer rows.Close()
	for rows.Next() {
		var r row
		var n int
		if err := r.scan(rows, &n); err != nil {
			return err
		}
		f(r, n-1)
	}
	return rows.Err()
}
