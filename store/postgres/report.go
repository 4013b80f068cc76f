package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// A report is one statement that says what the state machine says of the usual
// case. Where it changes nothing, the state machine itself has the word.

const reportSQL = `
WITH {clock}, changed AS (
	UPDATE {records} SET {set}, version = version + 1
	FROM clock
	WHERE root = $1 AND key = $2 AND token = $3 AND fence = $4 AND {allowed}
	RETURNING {columns but outcome}, now
), logged AS (
	INSERT INTO {history} (at, version, fence, token, root, generation, attempt, key, verb, state, who, why)
	SELECT now, version, fence, token, root, generation, attempt, key, '{verb}', state, $5, $6 FROM changed
)
SELECT {columns but outcome}, NULL::text, NULL::bytea, NULL::bytea, now, {durable} FROM changed`

// reports says for each verb what it sets, and when.
var reports = map[store.Verb]struct{ set, allowed string }{
	store.Complete: {
		set: `state = 'completed', lease = NULL, finished = now,
			outcome_format = $7, outcome_data = $8, outcome_context = $9`,
		allowed: `state NOT IN ('completed', 'failed')`,
	},
	store.Fail: {
		set: `state = 'failed', lease = NULL, finished = now,
			outcome_format = $7, outcome_data = $8, outcome_context = $9`,
		allowed: `state NOT IN ('completed', 'failed')`,
	},
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
		set:     `state = 'pending', lease = now + $7::interval`,
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
	r, err := detached(ctx, s, func() (store.Record, error) { return s.report(ctx, held, c) })
	return r, failed(string(c.Verb), held.Key, err)
}

func (s *Store) report(ctx context.Context, held store.Claim, c store.Change) (r store.Record, err error) {
	otherwise := change{
		ref: held.Ref, verb: c.Verb, who: c.Who, why: c.Why,
		after: func(r store.Record) (store.Record, bool, error) { return r.AfterReport(held, c, r.Now) },
	}
	err = s.settle(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var changed []row
		err := s.send(ctx, conn, statement{s.text.report[c.Verb], reportArgs(held, c), func(rows pgx.Rows) error {
			changed, err = read(rows)
			return err
		}})
		switch {
		case err != nil:
			return err
		case len(changed) == 0:
			r, err = otherwise.run(ctx, s, conn)
			return err
		}
		r = changed[0].Record
		r.Outcome = c.Outcome // not sent back
		return nil
	})
	return r, err
}

func reportArgs(held store.Claim, c store.Change) []any {
	args := []any{
		uuid(held.Root), held.Key[:], uuid(held.Token), held.Fence,
		text(told(c.Who)), text(told(c.Why)),
	}
	switch c.Verb {
	case store.Complete, store.Fail:
		format, data, context := outcome(c.Outcome)
		return append(args, format, data, context)
	case store.NotApplied:
		return append(args, interval(c.Settle))
	case store.Suspend:
		return append(args, interval(c.For))
	}
	return args
}
