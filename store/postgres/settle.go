package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// settle runs try on a connection until there is a definite answer. A connection
// that broke may have taken the answer of a commit with it; then try asks again,
// and must recognise what it did itself: by the token, or by the history.
//
// Until something has been sent, ctx decides how long to wait for a connection.
// From then on, Options.Timeout does: a statement that is cancelled closes its
// connection and leaves the question open that settle is here to close.
func (s *Store) settle(ctx context.Context, try func(context.Context, *pgx.Conn) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	return s.settleOn(ctx, c, try)
}

// settleOn is settle that begins on c, and gives it back to the pool.
func (s *Store) settleOn(ctx context.Context, c *pgxpool.Conn, try func(context.Context, *pgx.Conn) error) (err error) {
	work := s.callers.Of(ctx)
	for delay := 5 * time.Millisecond; ; delay = min(2*delay, 250*time.Millisecond) {
		if c != nil {
			err = try(work, c.Conn())
			again := err != nil && (c.Conn().IsClosed() || passing(err))
			c.Release()
			if !again {
				return err
			}
		}
		select {
		case <-work.Done():
			return err // the last one tells more than that time was up
		case <-time.After(delay/2 + rand.N(delay)):
		}
		var none error
		if c, none = s.pool.Acquire(work); none != nil {
			c, err = nil, errors.Join(err, none)
		}
	}
}

// passing reports whether a refusal lies in what others were doing just then, or
// leaves open what became of the statement.
func passing(err error) bool {
	switch state(err) {
	case serializationFailure, completionUnknown, deadlockDetected, lockNotAvailable:
		return true
	}
	return false
}

// reading runs a read, again while others are in its way: at SERIALIZABLE that may be.
// The caller may give it up at any time.
func reading[T any](ctx context.Context, s *Store, read func() (T, error)) (found T, err error) {
	end := time.Now().Add(s.opts.Timeout)
	for delay := 5 * time.Millisecond; ; delay = min(2*delay, 250*time.Millisecond) {
		if found, err = read(); err == nil || !passing(err) || time.Now().After(end) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, err
		case <-time.After(delay/2 + rand.N(delay)):
		}
	}
}
