package postgres

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/store"
)

// lane is where claims and reports of all goroutines wait. Each of a few runners
// takes all that wait and does them in one transaction, so that they share one
// commit. Nothing waits for company: whoever comes while no runner is busy goes at
// once, and alone; a queue forms only behind what is under way.
type lane struct {
	mu      sync.Mutex
	waiting []*job
	runners int
}

const (
	// maxRunners is the number of connections of the lane: while one waits for
	// its commit, the other collects. More of them make the groups smaller.
	maxRunners = 2
	maxGroup   = 256
	// maxShared is the size in bytes of an outcome above which others would have
	// to wait for it.
	maxShared = 16 << 10
)

// shares reports whether a job can be in one transaction with others.
func (j *job) shares() bool {
	if j.report == nil {
		return j.claim != nil
	}
	switch j.report.Verb {
	case store.Complete, store.Fail: // it ends the action
		return len(j.report.Outcome.Data)+len(j.report.Outcome.Context) <= maxShared
	case store.Release, store.MarkUnknown:
		return true
	}
	return false
}

func (l *lane) add(s *Store, j *job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.work.over() {
		return errClosed
	}
	if l.runners < maxRunners { // while there is one, it takes what comes
		if err := s.work.start(func() { s.run() }); err != nil {
			return err
		}
		l.runners++
	}
	l.waiting = append(l.waiting, j)
	return nil
}

// take takes what waits. If nothing does, the runner has ended.
func (l *lane) take() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxGroup)
	if n == 0 {
		l.runners--
		return nil
	}
	jobs := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return jobs
}

// run does jobs until none waits.
func (s *Store) run() {
	for {
		// The connection comes first: while there is none, more come to wait. And
		// whoever has just been answered may be about to ask for more.
		c, err := s.connection()
		runtime.Gosched()
		jobs := s.lane.take()
		if err != nil {
			for _, j := range jobs {
				j.deliver(err)
			}
		} else {
			s.together(c, jobs)
		}
		if jobs == nil {
			return
		}
	}
}

func (s *Store) connection() (*pgxpool.Conn, error) {
	c, err := s.pool.Acquire(s.callers.Context())
	if err != nil {
		return nil, fmt.Errorf("no connection, so nothing was sent: %w", err)
	}
	return c, nil
}

// together does jobs on c, and gives it back to the pool.
func (s *Store) together(c *pgxpool.Conn, jobs []*job) {
	wanted := jobs[:0]
	for _, j := range jobs {
		if j.ctx.Err() != nil {
			j.deliver(context.Cause(j.ctx)) // nothing was sent
		} else {
			wanted = append(wanted, j)
		}
	}
	switch len(wanted) {
	case 0:
		c.Release()
	case 1:
		s.singleOn(c, wanted[0])
	default:
		s.flush(c, wanted)
	}
}
