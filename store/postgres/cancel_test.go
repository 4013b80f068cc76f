package postgres_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// Callers leave at every moment of a claim. None of them may own anything
// afterwards, and the pool keeps its connections.
func TestCallersThatLeaveOwnNothing(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between)
	warm(t, pool)
	dialed := w.dialed.Load()
	var mu sync.Mutex
	left := map[store.Ref]store.Token{}
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 100 {
				q := request()
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Microsecond+rand.N(2*time.Millisecond))
				r, err := s.Claim(ctx, q)
				cancel()
				switch {
				case errors.Is(err, context.DeadlineExceeded):
					mu.Lock()
					left[q.Ref] = q.Token
					mu.Unlock()
				case err != nil || r.Token != q.Token:
					t.Errorf("Claim: %v", err)
				}
			}
		})
	}
	working.Wait()
	s.Close() // waits for what goes on without a caller
	t.Logf("%d of 800 callers left", len(left))
	require.NotEmpty(t, left)
	require.Equal(t, dialed, w.dialed.Load(), "connections were lost and dialled again")

	var given int
	for ref, token := range left {
		var state store.State
		var kept [16]byte
		err := pool.QueryRow(t.Context(), `SELECT state, token FROM effectonce.records WHERE root = $1 AND key = $2`,
			ref.Root, ref.Key[:]).Scan((*string)(&state), &kept)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, store.Free, state, "claimed by a caller that has left")
		require.Equal(t, token, store.Token(kept))
		given++
	}
	t.Logf("%d claims were won after their callers had left, and given up", given)
}

// gate holds up all changes for as long as the test wants.
func gate(t *testing.T, pool *pgxpool.Pool) (open func()) {
	tx, err := newPool(t, pool.Config().ConnString()).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK effectonce.records IN SHARE MODE")
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback(t.Context())) }
}

// The caller comes back with the same token while its first call goes on: that
// claim is wanted after all and must not be given up under its feet.
func TestClaimAskedForAgainIsNotGivenUp(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	release := gate(t, pool)
	q := request()
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { _, err := s.Claim(ctx, q); first <- err }()
	waitForLocks(t, pool, 1)
	leave()
	require.ErrorIs(t, <-first, context.Canceled)

	second := make(chan answer, 1)
	go func() { r, err := s.Claim(t.Context(), q); second <- answer{r, err} }()
	require.Eventually(t, func() bool { return s.Waiting(q.Token) == 1 }, 10*time.Second, time.Millisecond)
	release()
	a := <-second
	require.NoError(t, a.err)
	require.Equal(t, store.InFlight, a.State)
	require.Equal(t, q.Token, a.Token)
	s.Close()
	require.Equal(t, []store.Verb{store.Claimed}, story(t, reopened(t, pool), q.Ref))
}

type answer struct {
	store.Record
	err error
}

// A take-over that nobody waits for any more goes back to unknown: that it is free
// is more than anybody knows.
func TestTakeOverWhoseCallerLeftIsUnknownAgain(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	q := request()
	seen := report(t, s, claim(t, s, q).Claim(), store.Change{Verb: store.MarkUnknown})
	release := gate(t, pool)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := s.TakeOver(ctx, again(q), seen); gone <- err }()
	waitForLocks(t, pool, 1)
	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
	release()
	s.Close()
	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver, store.MarkUnknown},
		story(t, reopened(t, pool), q.Ref))
}

// A caller that waits for a connection has sent nothing yet.
func TestCallerThatLeavesTheQueueForAConnectionHasDoneNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	release := acquireAll(t, pool)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	q := request()
	_, err := s.Claim(ctx, q)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	release()
	s.Close()
	_, err = reopened(t, pool).Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	q := request()
	s.Close()
	s.Close()
	_, err := s.Claim(t.Context(), q)
	require.ErrorContains(t, err, "closed")
	_, err = s.Get(t.Context(), q.Ref)
	require.ErrorContains(t, err, "closed")
	_, err = reopened(t, pool).Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// warm lets a pool dial all its connections.
func warm(t *testing.T, pool *pgxpool.Pool) { acquireAll(t, pool)() }

func acquireAll(t *testing.T, pool *pgxpool.Pool) (release func()) {
	var all []*pgxpool.Conn
	for range pool.Config().MaxConns {
		c, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		all = append(all, c)
	}
	return func() {
		for _, c := range all {
			c.Release()
		}
	}
}

func reopened(t *testing.T, pool *pgxpool.Pool) *postgres.Store {
	return newStore(t, pool, postgres.Options{})
}

// waitForLocks waits until n connections wait for a lock.
func waitForLocks(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	watch := newPool(t, pool.Config().ConnString())
	require.Eventually(t, func() bool {
		var waiting int
		err := watch.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == n
	}, 10*time.Second, time.Millisecond)
}
