package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// A report is one statement that says what the state machine says of the usual
// case. Where it changes nothing, the state machine itself has the word.

// endSQL writes down the outcome. The row tells its own end: what changes it later
// writes that into the history first.
const endSQL = `
UPDATE {records} SET state = '{state}', lease = NULL, version = version + 1, finished = clock_timestamp(),
	outcome_format = $7, outcome_data = $8, outcome_context = $9, {look again},
	tells_end = true, ended_by = nullif($5, who), ended_why = nullif($6, '')
WHERE root = $1 AND key = $2 AND token = $3 AND fence = $4 AND state NOT IN ('completed', 'failed')
RETURNING version, finished, {durable}, {notify}`

const reportSQL = `
WITH {clock}, changed AS (
	UPDATE {records} SET {set}, version = version + 1
	FROM clock
	WHERE root = $1 AND key = $2 AND token = $3 AND fence = $4 AND {allowed}
	RETURNING {columns but outcome}, now, waited_for
), logged AS (
	INSERT INTO {history} (at, version, fence, root, generation, key, verb, state, who, why)
	SELECT now, version, fence, root, {generation}, key, '{verb}', state, $5, $6 FROM changed
)
SELECT {columns but outcome}, NULL::text, NULL::bytea, NULL::bytea, now, {durable}, {notify} FROM changed`

// reports says for each verb that leaves the outcome open what it sets, and when.
var reports = map[store.Verb]struct{ set, allowed string }{
	store.Release: {
		set:     `state = 'free', lease = NULL`,
		allowed: `(state IN ('in_flight', 'pending', 'unknown') OR state = 'free' AND lease IS NOT NULL)`,
	},
	store.NotApplied: {
		set: `state = 'free', lease = NULL, deadline = NULL, generation = generation + (prior IS NULL)::int`,
		allowed: `(state IN ('in_flight', 'pending', 'unknown') OR state = 'free' AND deadline IS NOT NULL)
			AND (prior IS NULL OR prior + $7::interval <= now)`,
	},
	store.MarkUnknown: {
		set:     `state = 'unknown', lease = NULL`,
		allowed: `(state = 'in_flight' OR state = 'unknown' AND lease IS NOT NULL)`,
	},
	store.Suspend: {
		set:     `state = 'pending', lease = now + $7::interval, active_since = now`,
		allowed: `state IN ('in_flight', 'unknown', 'free')`,
	},
}

// Report implements [store.Store].
func (s *Store) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if err := c.ValidateReport(held); err != nil {
		return store.Record{}, err
	}
	if err := checkOutcome(c.Outcome); err != nil {
		return store.Record{}, err
	}
	c.Outcome = own(c.Outcome)
	rep := s.newReport(held, c)
	r, err := s.do(ctx, job{report: rep, alone: rep.alone})
	return r, failed(string(c.Verb), held.Key, err)
}

// report is a change that an owner reports.
type report struct {
	*Store
	held store.Claim
	store.Change
	// otherwise is what is done if the statement changes nothing.
	otherwise change
	written   time.Time // by the server's clock, if it tells an outcome
}

func (s *Store) newReport(held store.Claim, c store.Change) *report {
	return &report{Store: s, held: held, Change: c, otherwise: change{
		ref: held.Ref, verb: c.Verb, who: c.Who, why: c.Why,
		after: func(r store.Record) (store.Record, bool, error) { return r.AfterReport(held, c, r.Now) },
	}}
}

func (r *report) alone(ctx context.Context, c *pgx.Conn) (store.Record, error) {
	if r.opts.Portable {
		return r.otherwise.run(ctx, r.Store, c)
	}
	if r.ends() {
		return r.end(ctx, c)
	}
	var changed []row
	err := r.send(ctx, c, statement{r.text.report[r.Verb], r.args(), func(rows pgx.Rows) (err error) {
		changed, err = read(rows)
		return err
	}})
	switch {
	case err != nil:
		return store.Record{}, err
	case len(changed) == 0:
		return r.otherwise.run(ctx, r.Store, c)
	}
	return changed[0].Record, nil
}

// ends reports whether it is an outcome that is reported.
func (r *report) ends() bool { return r.Verb == store.Complete || r.Verb == store.Fail }

func (r *report) end(ctx context.Context, c *pgx.Conn) (next store.Record, err error) {
	known := false
	err = r.send(ctx, c, statement{r.text.report[r.Verb], r.args(), func(rows pgx.Rows) error {
		var version int64
		var finished time.Time
		_, err := pgx.ForEachRow(rows, []any{&version, &finished, nil, nil}, func() error {
			next, known = r.ended(version, finished)
			return nil
		})
		return err
	}})
	if err != nil || known {
		return next, err
	}
	next, err = r.otherwise.run(ctx, r.Store, c)
	return r.asWritten(next), err
}

// ended returns the record after its end was written, if the claim is remembered.
// Otherwise the record has to be read.
func (r *report) ended(version int64, finished time.Time) (store.Record, bool) {
	r.written = finished.UTC()
	was, known := r.recent.take(r.held, version)
	if !known {
		return store.Record{}, false
	}
	next, _, err := was.AfterReport(r.held, r.Change, r.written)
	return next, err == nil
}

// asWritten gives a record that was read after this report had been written the
// moment at which that was.
func (r *report) asWritten(next store.Record) store.Record {
	if !r.written.IsZero() && next.Finished.Equal(r.written) {
		next.Now = r.written
	}
	return next
}

func (r *report) args() []any {
	args := []any{
		uuid(r.held.Root), r.held.Key[:], uuid(r.held.Token), r.held.Fence, told(r.Who), told(r.Why),
	}
	switch r.Verb {
	case store.Complete, store.Fail:
		format, data, codec := outcome(r.Outcome)
		return append(args, format, data, codec)
	case store.NotApplied:
		return append(args, interval(r.Settle))
	case store.Suspend:
		return append(args, interval(r.For))
	}
	return args
}
