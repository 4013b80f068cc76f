package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// Portable mode, for engines that speak PostgreSQL's protocol and part of its SQL; see
// [Options.Portable]. Everything but a first claim and a renewal is read by key,
// decided by the state machine of package store, and written if the row still has the
// version it was read with: engines that lock and engines that refuse at the commit
// come to the same.

// plain are the statements of portable mode.
type plain struct {
	get, scheduled, claim, update, log, logged, renew string
	lookup, list, history                             string
	due                                               map[store.Verb]string
	prunable, prune, forget                           string
}

// What is sent besides: these, and versionSQL and tablesSQL; Migrate sends its own.
const beginSQL, commitSQL, rollbackSQL = "BEGIN", "COMMIT", "ROLLBACK"

const (
	plainGetSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE root = $1 AND key_hex = $2`

	plainScheduledSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE scheduled_hex = $1`

	// now() is one moment for all columns: not later than the statement's arrival, from
	// where a lease may count, and not earlier than its sending, from where a deadline must.
	plainClaimSQL = `
INSERT INTO {records} (root, key_hex, namespace, scope_kind, scope_id, tenant, operation, intent,
	workflow_id, run_id, attempt, who, scheduled_hex, fingerprint, fields, token, retention,
	lease, deadline, expires, created, state, fence, generation, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
	now() + $18::interval, now() + $19::interval, now() + $20::interval, now(), 'in_flight', 1, 1, 1)
ON CONFLICT DO NOTHING
RETURNING created`

	plainUpdateSQL = `
UPDATE {records} SET
	token = $4, fence = $5, retention = $6, expires = $7, deadline = $8, prior = $9, generation = $10, attempt = $11,
	scheduled_hex = $12, fingerprint = $13, fields = $14,
	namespace = $15, scope_kind = $16, scope_id = $17, tenant = $18, operation = $19, intent = $20,
	workflow_id = $21, run_id = $22, who = $23, version = version + 1, lease = $24, finished = $25, state = $26,
	outcome_format = $27, outcome_data = $28, outcome_context = $29
WHERE root = $1 AND key_hex = $2 AND version = $3`

	plainLogSQL = `
INSERT INTO {history} (root, key_hex, version, at, verb, state, token, fence, generation, attempt,
	workflow_id, run_id, who, why)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

	plainLoggedSQL = `
SELECT version FROM {history} WHERE root = $1 AND key_hex = $2 AND version = $3 AND at = $4 AND verb = $5`

	plainRenewSQL = `
UPDATE {records} SET lease = clock_timestamp() + $5::interval, version = version + 1
WHERE root = $1 AND key_hex = $2 AND token = $3 AND fence = $4 AND state = 'in_flight' AND lease > clock_timestamp()`

	plainLookupSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE key_hex = $1 ORDER BY root LIMIT 1`

	plainListSQL = `
SELECT {columns}, clock_timestamp() FROM {records}
WHERE (root, key_hex) > ($1, $2)
	AND ($3 = '' OR state = $3)
	AND (NOT $4 OR state = 'unknown' OR state IN ('in_flight', 'pending') AND lease <= clock_timestamp())
	AND ($5 = '' OR scope_kind = $5)
	AND ($6 = '' OR scope_id = $6)
	AND ($7 = '' OR tenant = $7)
	AND ($8 = '' OR operation = $8)
	AND ($9 = '' OR workflow_id = $9)
ORDER BY root, key_hex
LIMIT $10`

	plainHistorySQL = `
SELECT version, at, verb, state, token, fence, generation, attempt, workflow_id, run_id, who, why
FROM {history} WHERE root = $1 AND key_hex = $2 ORDER BY version`

	plainOverdueSQL = `
SELECT root, key_hex FROM {records}
WHERE (root, key_hex) > ($1, $2) AND state IN ('in_flight', 'pending') AND lease <= clock_timestamp()
ORDER BY root, key_hex
LIMIT $3`

	plainExpiredSQL = `
SELECT root, key_hex FROM {records}
WHERE (root, key_hex) > ($1, $2) AND state IN ('completed', 'failed')
	AND outcome_format IS NOT NULL AND expires <= clock_timestamp()
ORDER BY root, key_hex
LIMIT $3`
)

func newPlain(schema string) plain {
	table := func(name string) string { return pgx.Identifier{schema, name}.Sanitize() }
	sql := strings.NewReplacer(
		"{records}", table("records"), "{history}", table("history"), "{columns}", plainColumns,
	).Replace
	return plain{
		get: sql(plainGetSQL), scheduled: sql(plainScheduledSQL), claim: sql(plainClaimSQL),
		update: sql(plainUpdateSQL), log: sql(plainLogSQL), logged: sql(plainLoggedSQL), renew: sql(plainRenewSQL),
		lookup: sql(plainLookupSQL), list: sql(plainListSQL), history: sql(plainHistorySQL),
		due:      map[store.Verb]string{store.Swept: sql(plainOverdueSQL), store.Expired: sql(plainExpiredSQL)},
		prunable: sql(plainPrunableSQL), prune: sql(plainPruneSQL), forget: sql(plainForgetSQL),
	}
}
