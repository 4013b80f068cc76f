package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/store"
)

// A flush is one transaction in one round trip, for many jobs. It has the usual
// answers only: that a claim of a new record was won, and that a report on a claim
// was accepted. Claims that found a record there, and reports on claims that are not
// remembered, are answered by one more round trip, which writes nothing. Whatever is
// left is done job by job, and so is everything if the flush fails: a row that is
// refused, or locked, or an answer that was lost, costs its neighbours a little time and
// nothing else.

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
	var list []group
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
			s.recent.add(j.answer) // only now has it been committed
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

// group is a statement for many jobs, and who reads its rows.
type group struct {
	sql  string
	args *arrays
	read func(pgx.Rows) error
}

var asBinary = []int16{pgx.BinaryFormatCode}

// sendTogether sends groups as one transaction in one round trip, with the level said:
// see send.
func (s *Store) sendTogether(ctx context.Context, c *pgx.Conn, list ...group) error {
	none, groups := arraysFor(nil), list
	defer func() {
		none.free()
		for _, g := range groups {
			g.args.free()
		}
	}()
	list = slices.Concat([]group{{beginAtLevelSQL, none, ignore}, {s.text.together, none, ignore}}, list, []group{{commitSQL, none, ignore}})
	known, err := s.prepared(ctx, c)
	if err != nil {
		return err
	}
	p := c.PgConn().StartPipeline(ctx)
	size := 0
	for _, g := range list {
		size += len(g.args.buf)
	}
	c.PgConn().Frontend().Send(room(size + size/8))
	for _, g := range list {
		if known != nil {
			p.SendQueryStatement(known[g.sql], g.args.args(), asBinary, asBinary)
		} else {
			p.SendQueryParams(g.sql, g.args.args(), nil, asBinary, asBinary)
		}
	}
	if err = p.Sync(); err == nil {
		err = readGroups(p, c.TypeMap(), list)
	}
	if closed := p.Close(); err == nil {
		err = closed // only now has it been committed: an error here is the commit's
	}
	if code := state(err); code == planChanged || code == noStatement {
		_ = c.Close(ctx) // what it has prepared is of no use any more
	}
	return s.ended(ctx, c, err)
}

// room is a message without content, which has room made for those that follow: to grow
// bit by bit costs pgx several times the memory that it sends.
type room int

var _ pgproto3.FrontendMessage = room(0)

func (room) Frontend()                           {}
func (room) Decode([]byte) error                 { return nil }
func (r room) Encode(dst []byte) ([]byte, error) { return slices.Grow(dst, int(r)), nil }

func readGroups(p *pgconn.Pipeline, types *pgtype.Map, list []group) error {
	for _, g := range list {
		results, err := p.GetResults()
		if err != nil {
			return err
		}
		rows, ok := results.(*pgconn.ResultReader)
		if !ok {
			return fmt.Errorf("the server answered a statement with %T", results)
		}
		if err := g.read(pgx.RowsFromResultReader(types, rows)); err != nil {
			return err
		}
	}
	return nil
}

// prepared returns the statements that a connection has prepared, by their texts: all at
// once, when the first of them is wanted. There are none behind a pooler, where it is
// another server's connection the next time.
func (s *Store) prepared(ctx context.Context, c *pgx.Conn) (map[string]*pgconn.StatementDescription, error) {
	if !s.prepares {
		return nil, nil
	}
	mine, all := "effectonce: "+s.opts.Schema, c.PgConn().CustomData()
	if known, ok := all[mine].(map[string]*pgconn.StatementDescription); ok {
		return known, nil
	}
	texts := []string{beginAtLevelSQL, s.text.together, s.text.claimAll, s.text.endAll, s.text.reportAll, s.text.seenAll, commitSQL}
	known := make(map[string]*pgconn.StatementDescription, len(texts))
	p := c.PgConn().StartPipeline(ctx)
	for _, sql := range texts {
		p.SendPrepare(nameOf(mine, sql), sql, nil)
	}
	err := p.Sync()
	for _, sql := range texts {
		if err != nil {
			break
		}
		results, problem := p.GetResults()
		if one, ok := results.(*pgconn.StatementDescription); ok {
			one.Name, known[sql] = nameOf(mine, sql), one
		} else if err = problem; err == nil {
			err = fmt.Errorf("the server answered a PREPARE with %T", results)
		}
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = c.Close(ctx) // some of them it has, by names that cannot be used again
		return nil, err
	}
	all[mine] = known
	return known, nil
}

// nameOf returns the name of a prepared statement, of which 63 bytes count.
func nameOf(owner, sql string) string {
	sum := sha256.Sum256([]byte(owner + "\n" + sql))
	return "effectonce_" + hex.EncodeToString(sum[:16])
}
