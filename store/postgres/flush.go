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
// was accepted. Claims that found a record there, and reports on claims that are not
// remembered, are answered by one more round trip, which writes nothing. Whatever is left is done job by job, and so is
// everything if the flush fails: a row that is refused, or locked, or an answer
// that was lost, costs its neighbours a little time and nothing else.

// flush does jobs on c, and gives it back to the pool.
func (s *Store) flush(c *pgxpool.Conn, jobs []*job) {
	// Everybody takes rows in the same order, or two flushes could wait for one another.
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.ref().Compare(b.ref()) })
	ctx := s.callers.Context()
	left := answered(jobs, s.writeTogether(ctx, c.Conn(), jobs))
	if !c.Conn().IsClosed() {
		left = answered(left, s.readTogether(ctx, c.Conn(), left))
	}
	c.Release()
	for _, j := range left {
		s.work.more(func() { s.single(j) })
	}
}

// answered delivers the answers that were found, unless err is what came of the
// transaction, and returns the jobs that have none.
func answered(jobs []*job, err error) (left []*job) {
	for _, j := range jobs {
		if j.answer != nil && err == nil {
			j.deliver(nil)
		} else {
			j.answer = nil
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
func (s *Store) writeTogether(ctx context.Context, c *pgx.Conn, jobs []*job) error {
	var claims, outcomes, reports []*job
	for _, j := range jobs {
		switch {
		case j.report != nil && j.report.ends():
			outcomes = append(outcomes, j)
		case j.report != nil:
			reports = append(reports, j)
		case j.claim.Attempt <= 1: // a retry will find a record, and is left to be read
			claims = append(claims, j)
		}
	}
	var list []statement
	if len(claims) > 0 {
		list = append(list, s.claimAll(claims))
	}
	if len(outcomes) > 0 {
		list = append(list, s.endAll(outcomes))
	}
	if len(reports) > 0 {
		list = append(list, s.reportAll(reports))
	}
	if len(list) == 0 {
		return nil
	}
	if err := s.sendTogether(ctx, c, list...); err != nil {
		return err
	}
	for _, j := range claims {
		if j.answer != nil {
			s.recent.add(*j.answer, 1) // only now has it been committed
		}
	}
	return nil
}

// readTogether answers what needs no more than to look.
func (s *Store) readTogether(ctx context.Context, c *pgx.Conn, jobs []*job) error {
	if len(jobs) == 0 {
		return nil
	}
	return s.sendTogether(ctx, c, s.seenAll(jobs))
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
