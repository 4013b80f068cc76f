package postgres

import (
	"context"
	"errors"
	"sync"
)

// What a call does in the database goes on when its caller leaves: the caller's
// context only ends the waiting. A statement that is cut off in the middle may or
// may not have been committed, and costs the connection.

var errClosed = errors.New("the store is closed")

// work counts what is going on.
type work struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func (w *work) start(f func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	w.running.Go(f)
	return nil
}

// more starts what belongs to something that is going on, also while closing.
func (w *work) more(f func()) { w.running.Go(f) }

func (w *work) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// refuse lets nothing begin any more.
func (w *work) refuse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (w *work) wait() { w.running.Wait() }

type answer[T any] struct {
	value T
	err   error
}

// detached runs f and waits for it until ctx is done.
func detached[T any](ctx context.Context, s *Store, f func() (T, error)) (none T, _ error) {
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	done := make(chan answer[T], 1)
	if err := s.work.start(func() {
		value, err := f()
		done <- answer[T]{value, err}
	}); err != nil {
		return none, err
	}
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
