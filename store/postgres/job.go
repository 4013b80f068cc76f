package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/store"
)

// job is what one call wants to have done with one record.
type job struct {
	ctx   context.Context // the caller's: for how long there is somebody who waits
	alone func(context.Context, *pgx.Conn) (store.Record, error)
	// What can also be done together with others' jobs: one of these, or neither.
	claim  *store.Request
	report *report
	// What came of it, for delivered, which is called once.
	answer    *store.Record
	err       error
	delivered func()
}

func (j *job) found(r store.Record) { j.answer = &r }

func (j *job) deliver(err error) {
	j.err = err
	j.delivered()
}

func (j *job) result() (r store.Record, err error) {
	if j.answer != nil {
		r = *j.answer
	}
	return r, j.err
}

// do has a job done and waits for it until ctx is done.
func (s *Store) do(ctx context.Context, j job) (store.Record, error) {
	if ctx.Err() != nil {
		return store.Record{}, context.Cause(ctx)
	}
	done := make(chan struct{})
	j.ctx, j.delivered = ctx, func() { close(done) }
	if err := s.submit(&j); err != nil {
		return store.Record{}, err
	}
	select {
	case <-done:
		return j.result()
	case <-ctx.Done():
		return store.Record{}, context.Cause(ctx)
	}
}

// submit sees to it that the job is done.
func (s *Store) submit(j *job) error {
	if s.opts.NoLane || !j.shares() {
		return s.work.start(func() { s.single(j) })
	}
	return s.lane.add(s, j)
}

// single does one job by itself.
func (s *Store) single(j *job) {
	c, err := s.pool.Acquire(j.ctx)
	if err != nil {
		j.deliver(err)
		return
	}
	s.singleOn(c, j)
}

// singleOn is single on c, which it gives back to the pool.
func (s *Store) singleOn(c *pgxpool.Conn, j *job) {
	j.deliver(s.settleOn(j.ctx, c, func(ctx context.Context, c *pgx.Conn) error {
		r, err := j.alone(ctx, c)
		j.found(r)
		return err
	}))
}
