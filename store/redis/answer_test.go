package redis_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
)

func request() store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "tenant", ScopeID: "acme", Operation: "Refund",
		WorkflowID: "order-7", RunID: "run-1", Attempt: 1, Lease: time.Hour, Remaining: time.Hour, Who: "worker-1",
	}
	rand.Read(q.Root[:])
	rand.Read(q.Key[:])
	rand.Read(q.Fingerprint[:])
	return q
}

func again(q store.Request) store.Request {
	q.Token = store.NewToken()
	q.Attempt++
	return q
}

func done(data string) store.Change {
	return store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "text", Data: []byte(data)}}
}

func claim(t *testing.T, s store.Store, q store.Request) store.Record {
	t.Helper()
	r, err := s.Claim(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, store.InFlight, r.State)
	require.Equal(t, q.Token, r.Token)
	return r
}

func verbs(t *testing.T, s *redis.Store, ref store.Ref) (all []store.Verb) {
	t.Helper()
	h, err := s.History(t.Context(), ref)
	require.NoError(t, err)
	for _, e := range h {
		all = append(all, e.Verb)
	}
	return all
}

// The server has done it, and nobody was told. The same call finds out, and nothing is
// done twice: there is one line of history each.
func TestLostAnswerIsSettled(t *testing.T) {
	t.Parallel()
	url := services.Redis(t)
	options := connect(t, url).Options()
	p := before(t, options.Addr)
	client := connect(t, "redis://"+p.address)
	s := open(t, client, redis.Options{})

	q := request()
	_, err := s.Get(t.Context(), q.Ref) // opens the connection
	require.ErrorIs(t, err, store.ErrNotFound)
	lost := p.cut(1)
	r := claim(t, s, q)
	<-lost.held
	require.EqualValues(t, 1, r.Fence)

	lost = p.cut(2)
	r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	<-lost.held

	q = again(q)
	lost = p.cut(2)
	r, err = s.TakeOver(t.Context(), q, r)
	require.NoError(t, err)
	require.Equal(t, q.Token, r.Token)
	require.EqualValues(t, 2, r.Fence)
	<-lost.held

	lost = p.cut(1)
	r, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	require.Equal(t, store.Completed, r.State)
	<-lost.held

	// Nothing of an amendment tells whose it was, but the version that it has written.
	lost = p.cut(2)
	r, err = s.Amend(t.Context(), r, store.Change{Verb: store.AllowRerun, Who: "operator"})
	require.NoError(t, err)
	require.Equal(t, 2, r.Generation)
	<-lost.held

	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver, store.Complete, store.AllowRerun}, verbs(t, s, q.Ref))
}

func TestLostAnswerToAFirstSweepIsCountedOnce(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address), redis.Options{})
	q := request()
	q.Lease = time.Microsecond
	claim(t, s, q)
	lost := p.cut(3) // due, read, swap
	n, err := s.Sweep(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	<-lost.held
	require.Equal(t, []store.Verb{store.Claimed, store.Swept}, verbs(t, s, q.Ref))
}

// A claim is won after its caller has left: nobody would run it, so it is given up.
func TestClaimWhoseCallerLeftIsGivenUp(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address), redis.Options{})
	for name, lose := range map[string]struct {
		prepare func(store.Request) func(context.Context, store.Request) error
		answers int64
		want    []store.Verb
	}{
		"first claim": {func(store.Request) func(context.Context, store.Request) error {
			return func(ctx context.Context, q store.Request) error { _, err := s.Claim(ctx, q); return err }
		}, 1, []store.Verb{store.Claimed, store.Release}},
		"take-over": {func(q store.Request) func(context.Context, store.Request) error {
			r := claim(t, s, q)
			seen, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
			require.NoError(t, err)
			return func(ctx context.Context, q store.Request) error {
				_, err := s.TakeOver(ctx, again(q), seen)
				return err
			}
		}, 2, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver, store.MarkUnknown}},
	} {
		q := request()
		call := lose.prepare(q)
		_, _ = s.Get(t.Context(), q.Ref)
		ctx, leave := context.WithCancelCause(t.Context())
		why := errors.New("gone home")
		late := p.hold(lose.answers)
		answer := make(chan error)
		go func() { answer <- call(ctx, q) }()
		<-late.held
		leave(why)
		require.ErrorIs(t, <-answer, why, name)
		close(late.release)
		require.Eventually(t, func() bool { return len(verbs(t, s, q.Ref)) == len(lose.want) }, 10*time.Second, 5*time.Millisecond, name)
		require.Equal(t, lose.want, verbs(t, s, q.Ref), name)
	}
}

// But not if its owner asks for it again meanwhile.
func TestClaimThatIsAskedForAgainIsNotGivenUp(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address), redis.Options{})
	q := request()
	_, _ = s.Get(t.Context(), q.Ref)
	ctx, leave := context.WithCancel(t.Context())
	late := p.hold(1)
	first, second := make(chan error), make(chan error)
	go func() { _, err := s.Claim(ctx, q); first <- err }()
	<-late.held
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	go func() {
		r, err := s.Claim(t.Context(), q)
		if err == nil && (r.State != store.InFlight || r.Token != q.Token) {
			err = errors.New("not owned")
		}
		second <- err
	}()
	require.Eventually(t, func() bool { return s.Waiting(q.Token) == 1 }, 10*time.Second, time.Millisecond)
	close(late.release)
	require.NoError(t, <-second)
	require.NoError(t, s.Close()) // whatever was still to be done for the first call is done
	other := open(t, connect(t, "redis://"+p.address), redis.Options{Prefix: s.Prefix(), Existing: true})
	require.Equal(t, []store.Verb{store.Claimed}, verbs(t, other, q.Ref))
}

// Nor if it is another call's: one that was answered, and whose effect may be running.
func TestClaimThatWasAnsweredIsNotGivenUpForARepeatedCall(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address), redis.Options{})
	q := request()
	claim(t, s, q)
	ctx, leave := context.WithCancel(t.Context())
	late := p.hold(1)
	answer := make(chan error)
	go func() { _, err := s.Claim(ctx, q); answer <- err }()
	<-late.held
	leave()
	require.ErrorIs(t, <-answer, context.Canceled)
	close(late.release)
	require.NoError(t, s.Close())
	other := open(t, connect(t, "redis://"+p.address), redis.Options{Prefix: s.Prefix(), Existing: true})
	require.Equal(t, []store.Verb{store.Claimed}, verbs(t, other, q.Ref))
}

// A call that was not sent when its caller left has changed nothing, for certain.
func TestCallBehindOneThatHangsIsWithdrawn(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address+"?pool_size=20"), redis.Options{})
	_, _ = s.Get(t.Context(), request().Ref)
	q := request()
	var hanging []chan error
	var release []chan struct{}
	for range redis.Lanes {
		late := p.hold(1)
		release = append(release, late.release)
		answer := make(chan error, 1)
		go func() { _, err := s.Get(t.Context(), request().Ref); answer <- err }()
		hanging = append(hanging, answer)
		<-late.held
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Claim(ctx, q)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for i, answer := range hanging {
		close(release[i])
		require.ErrorIs(t, <-answer, store.ErrNotFound)
	}
	_, err = s.Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestCallWithoutTheLaneWaitsForNoOther(t *testing.T) {
	t.Parallel()
	p := before(t, connect(t, services.Redis(t)).Options().Addr)
	s := open(t, connect(t, "redis://"+p.address+"?read_timeout=1m"), redis.Options{NoLane: true, Timeout: time.Minute})
	_, _ = s.Get(t.Context(), request().Ref)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var hanging sync.WaitGroup
	var release []chan struct{}
	for range 3 { // more than there are lanes
		late := p.hold(1)
		release = append(release, late.release)
		hanging.Go(func() { _, _ = s.Get(ctx, request().Ref) })
		select {
		case <-late.held:
		case <-ctx.Done():
			t.Fatal("it waits for another")
		}
	}
	_, err := s.Claim(ctx, request())
	require.NoError(t, err)
	for _, r := range release {
		close(r)
	}
	hanging.Wait()
}

func TestClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := s.Claim(t.Context(), request())
	require.ErrorIs(t, err, redis.ErrClosed)
}
