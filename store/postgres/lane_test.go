package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

// The contract holds when every call goes by itself; TestStore is with the lane.
func TestStoreWithoutTheLane(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{NoLane: true})
	storetest.Run(t, func(*testing.T) store.Store { return s })
}

// crowd makes calls that all wait for two that are held up, and lets them go.
func crowd(t *testing.T, s *postgres.Store, pool *pgxpool.Pool, n int, call func(i int)) {
	t.Helper()
	warm(t, pool)
	release := gate(t, pool)
	var all sync.WaitGroup
	for runner := range 2 {
		all.Go(func() { claim(t, s, request()) })
		waitForLocks(t, pool, runner+1)
	}
	for i := range n {
		all.Go(func() { call(i) })
	}
	require.Eventually(t, func() bool { return s.Queued() == n }, 10*time.Second, time.Millisecond)
	release()
	all.Wait()
}

func TestManyCallsShareOneRoundTrip(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between)
	for _, warm := range []bool{false, true} {
		held := make([]store.Claim, 100)
		before := w.written.Load()
		crowd(t, s, pool, len(held), func(i int) { held[i] = claim(t, s, request()).Claim() })
		claims := w.written.Load() - before
		before = w.written.Load()
		crowd(t, s, pool, len(held), func(i int) {
			r := report(t, s, held[i], []store.Change{
				done(fmt.Sprint(i)), {Verb: store.Fail, Outcome: done(fmt.Sprint(i)).Outcome},
				{Verb: store.Release}, {Verb: store.MarkUnknown},
			}[i%4])
			require.Equal(t, []store.State{store.Completed, store.Failed, store.Free, store.Unknown}[i%4], r.State)
		})
		reports := w.written.Load() - before
		for i, h := range held {
			got, err := s.Get(t.Context(), h.Ref)
			require.NoError(t, err)
			if got.Done() {
				require.Equal(t, fmt.Sprint(i), string(got.Outcome.Data))
			}
			require.Len(t, story(t, s, h.Ref), 2)
		}
		if warm { // two alone, and the others in one group, or two
			require.LessOrEqual(t, claims, int64(5))
			require.LessOrEqual(t, reports, int64(5))
		}
	}
}

func TestCrowdAtOneKeyHasOneWinner(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	q := request()
	var mu sync.Mutex
	fresh, won := map[store.Token]bool{}, 0
	crowd(t, s, pool, 100, func(i int) {
		q := q
		q.Token = store.NewToken()
		r, err := s.Claim(t.Context(), q)
		mu.Lock()
		defer mu.Unlock()
		require.NoError(t, err)
		require.Equal(t, store.InFlight, r.State)
		fresh[r.Token] = true
		if r.Token == q.Token {
			won++
		}
	})
	require.Len(t, fresh, 1)
	require.Equal(t, 1, won)
}

// Who leaves the queue has sent nothing.
func TestCallerThatLeavesTheLaneHasDoneNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	ctx, leave := context.WithCancel(t.Context())
	left := request()
	release := gate(t, pool)
	var all sync.WaitGroup
	for runner := range 2 {
		all.Go(func() { claim(t, s, request()) })
		waitForLocks(t, pool, runner+1)
	}
	gone := make(chan error, 1)
	go func() { _, err := s.Claim(ctx, left); gone <- err }()
	all.Go(func() { claim(t, s, request()) })
	require.Eventually(t, func() bool { return s.Queued() == 2 }, 10*time.Second, time.Millisecond)
	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
	release()
	all.Wait()
	s.Close()
	_, err := reopened(t, pool).Get(t.Context(), left.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// What a group finds there already: somebody else's record, a record of the same
// scheduled activity, one's own from an attempt before, and one that is free.
func TestCrowdFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	requests, before := make([]store.Request, 40), make([]store.Record, 40)
	for i := range requests {
		requests[i] = request()
		rand.Read(requests[i].Scheduled[:])
		before[i] = claim(t, s, requests[i])
		if i%4 == 3 {
			report(t, s, before[i].Claim(), store.Change{Verb: store.Release})
		}
	}
	crowd(t, s, pool, len(requests), func(i int) {
		q := requests[i]
		q.Token = store.NewToken()
		switch i % 4 {
		case 1:
			other := request()
			q.Ref, q.Fingerprint = other.Ref, other.Fingerprint
		case 2:
			q.Attempt = 2
		}
		r, err := s.Claim(t.Context(), q)
		require.NoError(t, err)
		if i%4 == 3 {
			require.Equal(t, q.Token, r.Token)
			require.EqualValues(t, 2, r.Fence)
			return
		}
		r.Now = before[i].Now
		require.Equal(t, before[i], r)
	})
}
