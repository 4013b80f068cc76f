package interceptor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// renewing answers renewals and remembers them.
type renewing struct {
	store.Store
	mu    sync.Mutex
	calls [][]store.Claim
	gone  []store.Claim
	err   error
}

func (s *renewing) Renew(_ context.Context, _ time.Duration, held []store.Claim) ([]store.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, held)
	return s.gone, s.err
}

func (s *renewing) say(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func holds(n byte, lost context.CancelCauseFunc) *holding {
	return &holding{claim: store.Claim{Ref: store.Ref{Key: key.Key{n}}, Token: store.Token{n}, Fence: 1}, until: time.Now().Add(time.Hour), lost: lost}
}

func TestRenewals_ARoundRestsWhenNothingIsHeldAndStartsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &renewing{}
		r := newRenewals(s)
		const third = time.Second
		for range 3 { // bodies that are over before the timer is
			h := holds(1, nil)
			r.keep(h, 3*third)
			r.release(h)
			r.release(h)
		}
		time.Sleep(10 * third)
		synctest.Wait()
		require.Empty(t, s.calls, "nothing is held, so nothing is renewed")

		h := holds(2, nil)
		r.keep(h, 3*third)
		time.Sleep(3*third + third/2)
		synctest.Wait()
		require.Equal(t, [][]store.Claim{{h.claim}, {h.claim}, {h.claim}}, s.calls)
		r.release(h)
		time.Sleep(10 * third)
		require.Len(t, s.calls, 3)
	})
}

func TestRenewals_OnlyWhatTheStoreCallsGoneIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &renewing{err: errors.New("no answer")}
		r := newRenewals(s)
		losing, cancelLosing := context.WithCancelCause(t.Context())
		keeping, cancelKeeping := context.WithCancelCause(t.Context())
		defer cancelKeeping(nil)
		a, b := holds(1, cancelLosing), holds(2, cancelKeeping)
		s.gone = []store.Claim{a.claim}
		r.keep(a, 3*time.Second)
		r.keep(b, 3*time.Second)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		require.NoError(t, losing.Err(), "an error is not a loss")
		s.say(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		require.ErrorIs(t, context.Cause(losing), effectonce.ErrLeaseLost)
		require.NoError(t, keeping.Err())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []store.Claim{b.claim}, s.calls[2])
		r.release(b)
	})
}

func TestRenewals_EndWhenNobodyWaitsAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &renewing{}
		r := newRenewals(s)
		h := holds(1, nil)
		h.until = time.Now().Add(2500 * time.Millisecond)
		r.keep(h, 3*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, s.calls, 2)
	})
}
