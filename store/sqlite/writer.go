package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"
)

// maxBatch bounds how many changes share one commit, and so how long other
// processes wait for the lock.
const maxBatch = 512

// writer is the one goroutine of a process that writes. Callers queue; it takes
// everything that waits, applies it in one transaction and answers after the
// commit. There is no timer: a change that is alone is committed at once, and while
// it is being written the next ones gather.
type writer struct {
	tx      tx
	busy    time.Duration
	max     int // see maxBatch
	queue   chan *change
	closing chan struct{}
	stopped chan struct{}
}

// change is one caller's call. Its caller may withdraw it until the writer begins it.
type change struct {
	apply func(tx) error // may be called again if the transaction failed
	begun atomic.Bool    // set by who comes first: the writer, or the caller who withdraws
	done  chan error
	err   error
}

func startWriter(t tx, opts Options) *writer {
	w := &writer{
		tx: t, busy: opts.BusyTimeout, max: maxBatch,
		queue:   make(chan *change, maxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	if opts.NoLane {
		w.max = 1
	}
	go w.run()
	return w
}

// stop waits for what has begun; what has not is answered with ErrClosed.
func (w *writer) stop() {
	close(w.closing)
	<-w.stopped
}

// do applies a change and returns once it is on disk. If ctx is done, or the store
// closed, before the change was begun, it is never applied.
func (w *writer) do(ctx context.Context, apply func(tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := &change{apply: apply, done: make(chan error, 1)}
	var why error
	select {
	case w.queue <- c:
		select {
		case err := <-c.done:
			return err
		case <-ctx.Done():
			why = context.Cause(ctx)
		case <-w.stopped:
			why = ErrClosed
		}
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-w.stopped:
		why = ErrClosed
	}
	if c.begun.CompareAndSwap(false, true) {
		return why // withdrawn
	}
	return <-c.done // one commit away
}

func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case <-w.closing:
			return
		case c := <-w.queue:
			w.flush(c)
		}
	}
}

// flush commits everything that waits, c among it.
func (w *writer) flush(c *change) {
	// The lock comes first: who waits for another process may still withdraw.
	err := w.begin()
	batch := w.take(c)
	if err == nil {
		err = w.commit(batch)
		if again, ok := errors.AsType[applyError](err); ok {
			err = again.error
			if len(batch) > 1 { // one of them fails, the others need not
				for _, c := range batch {
					c.err = w.alone(c)
				}
				err = nil
			}
		}
	}
	for _, c := range batch {
		if err != nil {
			c.err = err
		}
		c.done <- c.err
	}
}

// alone commits one change of a transaction that failed.
func (w *writer) alone(c *change) error {
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.commit([]*change{c}); err != nil {
		if failed, ok := errors.AsType[applyError](err); ok {
			return failed.error
		}
		return err
	}
	return c.err
}

// take returns what waits and is now begun.
func (w *writer) take(c *change) (batch []*change) {
	for {
		if c.begun.CompareAndSwap(false, true) {
			batch = append(batch, c)
		}
		if len(batch) == w.max {
			return batch
		}
		select {
		case c = <-w.queue:
		default:
			return batch
		}
	}
}

// applyError is a change that failed before the commit: nothing was written.
type applyError struct{ error }

// commit applies a batch within the open transaction and ends that.
func (w *writer) commit(batch []*change) error {
	for _, c := range batch {
		if c.err = c.apply(w.tx); c.err != nil && !refused(c.err) {
			w.rollback()
			return applyError{c.err}
		}
	}
	if _, err := w.tx.exec("COMMIT"); err != nil {
		w.rollback()
		return err
	}
	return nil
}

// rollback ends the transaction, unless SQLite has done so by itself.
func (w *writer) rollback() { w.tx.exec("ROLLBACK") } //nolint:errcheck // there may be none

// begin takes the lock that all processes share. SQLite's own way of waiting tries
// ten times a second; that is too seldom beside a process that writes all the time.
func (w *writer) begin() error {
	patience := time.NewTimer(w.busy)
	defer patience.Stop()
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		_, err := w.tx.exec("BEGIN IMMEDIATE")
		if code(err) != codes.SQLITE_BUSY {
			return err
		}
		select {
		case <-patience.C:
			return err
		case <-w.closing:
			return ErrClosed
		case <-time.After(rand.N(pause)):
		}
	}
}
