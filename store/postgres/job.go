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
	answer *store.Record // found, and not delivered yet
	// deliver is called once, with what came of it.
	deliver func(store.Record, error)
}

func (j *job) found(r store.Record) { j.answer = &r }

// do has a job done and waits for it until ctx is done.
func (s *Store) do(ctx context.Context, j job) (store.Record, error) {
	if ctx.Err() != nil {
		return store.Record{}, context.Cause(ctx)
	}
	done := make(chan answer[store.Record], 1)
	j.ctx, j.deliver = ctx, func(r store.Record, err error) { done <- answer[store.Record]{r, err} }
	if err := s.submit(&j); err != nil {
		return store.Record{}, err
	}
	select {
	case a := <-done:
		return a.value, a.err
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
		j.deliver(store.Record{}, err)
		return
	}
	s.singleOn(c, j)
}

// singleOn is single on c, which it gives back to the pool.
func (s *Store) singleOn(c *pgxpool.Conn, j *job) {
	var r store.Record
	err := s.settleOn(j.ctx, c, func(ctx context.Context, c *pgx.Conn) (err error) {
		r, err = j.alone(ctx, c)
		return err
	})
	j.deliver(r, err)
}
