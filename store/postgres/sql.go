package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// statements are the texts that are sent. They are written beside the code that
// sends them; names in braces stand for what depends on the schema or would be
// repeated.
type statements struct {
	get, claim, seen, write, logged string
	report                          map[store.Verb]string
	within                          string
	renew, lost                     string
	together, mark                  string
	claimAll, endAll, reportAll     string
	seenAll                         string
	lookup, list, teller, history   string
	sweep, sweptTill                string
	expire, expiredTill, begun      string
	prune, pruneTill                string
}

// columns are what [row.scan] reads: everything but the outcome, then the outcome.
const (
	columnsButOutcome = `root, key, namespace, scope_kind, scope_id, tenant, operation, intent,
		workflow_id, run_id, attempt, who, scheduled, fingerprint, fields,
		state, token, fence, generation, lease, deadline, prior, retention, created, finished, expires, version`
	columns = columnsButOutcome + `, outcome_format, outcome_data, outcome_context`

	// clock gives a statement one moment for all that it decides and writes. Not
	// now(), which stands still for as long as a transaction does.
	clock = `clock AS MATERIALIZED (SELECT clock_timestamp() AS now)`

	// durable makes the transaction wait for the disk, whatever the session's
	// default is, and leaves a stronger one alone. A claim that a crash can lose
	// is no claim. Every statement that changes something has it in its answer.
	durable = `CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
		THEN set_config('synchronous_commit', 'on', true) END`

	// lookAgain has what finishes after its retention was looked at looked at again.
	// Otherwise it changes nothing, and touches no index.
	lookAgain = `look_again = CASE WHEN look_again = 'infinity' THEN clock_timestamp() ELSE look_again END`

	// revoked is the token of a claim that nobody owns any more.
	revoked = `'00000000-0000-0000-0000-000000000000'::uuid`
)

func newStatements(schema string) statements {
	table := func(name string) string { return pgx.Identifier{schema, name}.Sanitize() }
	sql := strings.NewReplacer(
		"{records}", table("records"),
		"{history}", table("history"),
		"{progress}", table("progress"),
		"{columns}", columns,
		"{columns but outcome}", columnsButOutcome,
		"{clock}", clock,
		"{durable}", durable,
		"{look again}", lookAgain,
		"{notify}", strings.ReplaceAll(notify, "{channel}", channelOf(schema)),
		"{revoked}", revoked,
	).Replace
	t := statements{
		get: sql(getSQL), claim: sql(claimSQL), seen: sql(seenSQL), write: sql(writeSQL), logged: sql(loggedSQL),
		report: map[store.Verb]string{}, within: sql(withinSQL),
		renew: sql(renewSQL), lost: sql(lostSQL),
		together: sql(togetherSQL), mark: sql(markSQL),
		claimAll: sql(claimAllSQL), endAll: sql(endAllSQL), reportAll: sql(reportAllSQL), seenAll: sql(seenAllSQL),
		lookup: sql(lookupSQL), list: sql(listSQL), teller: sql(tellerSQL), history: sql(historySQL),
		sweep: sql(sweepSQL), sweptTill: sql(sweptTillSQL),
		expire: sql(expireSQL), expiredTill: sql(expiredTillSQL), begun: sql(begunSQL),
		prune: sql(pruneSQL), pruneTill: sql(pruneTillSQL),
	}
	for verb, state := range ends {
		t.report[verb] = sql(strings.ReplaceAll(endSQL, "{state}", string(state)))
	}
	for verb, says := range reports {
		generation := "NULL::integer" // as before
		if verb == store.NotApplied {
			generation = "generation"
		}
		t.report[verb] = sql(strings.NewReplacer("{set}", says.set, "{allowed}", says.allowed,
			"{verb}", string(verb), "{generation}", generation).Replace(reportSQL))
	}
	return t
}
