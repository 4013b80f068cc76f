package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/store"
)

// A flush is one transaction in one round trip, for many jobs. It has the usual
// answers only: that a claim of a new record was won, and that a report on a claim
// was accepted. Claims that found a record there are answered by one more round
// trip, which writes nothing. Whatever is left is done job by job, and so is
// everything if the flush fails: a row that is refused, or locked, or an answer
// that was lost, costs its neighbours a little time and nothing else.

// flush does jobs on c, and gives it back to the pool.
func (s *Store) flush(c *pgxpool.Conn, jobs []*job) {
	// Everybody takes rows in the same order, or two flushes could wait for one another.
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.ref().Compare(b.ref()) })
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout)
	defer cancel()
	left := s.answered(jobs, func(answer answers) error { return s.writeTogether(ctx, c.Conn(), jobs, answer) })
	if !c.Conn().IsClosed() {
		left = s.answered(left, func(answer answers) error { return s.readTogether(ctx, c.Conn(), left, answer) })
	}
	c.Release()
	for _, j := range left {
		s.work.more(func() { s.single(j) })
	}
}

// answers says what came of a job.
type answers map[*job]store.Record

// answered delivers the answers that f finds, unless it fails, and returns the
// jobs that have none.
func (s *Store) answered(jobs []*job, f func(answers) error) (left []*job) {
	found := answers{}
	if err := f(found); err != nil {
		return jobs
	}
	for _, j := range jobs {
		if r, ok := found[j]; ok {
			j.deliver(r, nil)
		} else {
			left = append(left, j)
		}
	}
	return left
}

func (j *job) ref() store.Ref {
	if j.claim != nil {
		return j.claim.Ref
	}
	return j.report.held.Ref
}

// writeTogether inserts records and accepts reports.
func (s *Store) writeTogether(ctx context.Context, c *pgx.Conn, jobs []*job, found answers) error {
	var claims, reports []*job
	for _, j := range jobs {
		switch {
		case j.report != nil:
			reports = append(reports, j)
		case j.claim.Attempt <= 1: // a retry will find a record, and is left to be read
			claims = append(claims, j)
		}
	}
	var list []statement
	if len(claims) > 0 {
		list = append(list, s.claimAll(claims, found))
	}
	if len(reports) > 0 {
		list = append(list, s.reportAll(reports, found))
	}
	if len(list) == 0 {
		return nil
	}
	return s.sendTogether(ctx, c, list...)
}

// readTogether answers claims of records that are there and stay as they are.
func (s *Store) readTogether(ctx context.Context, c *pgx.Conn, jobs []*job, found answers) error {
	var claims []*job
	for _, j := range jobs {
		if j.claim != nil {
			claims = append(claims, j)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	return s.sendTogether(ctx, c, s.seenAll(claims, found))
}

// togetherSQL sets, for one transaction, what is needed where it is shared: each
// row is found by its index, also by a plan that was made when the table was empty,
// and a row that somebody holds does not hold up the others for long.
const togetherSQL = `
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true),
	set_config('lock_timeout', '100ms', true), {durable}`

func (s *Store) sendTogether(ctx context.Context, c *pgx.Conn, list ...statement) error {
	return s.transaction(ctx, c, append([]statement{{s.text.together, nil, ignore}}, list...))
}
