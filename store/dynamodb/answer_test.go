package dynamodb_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// The table has it, and nobody was told. The client sends it again, the condition
// fails, and the store knows its own writing: there is one line of history each.
func TestLostAnswerIsRecognised(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	lost := func(what string, do func() error) {
		t.Helper()
		w.loseAnswers("UpdateItem", 1)
		w.asked()
		require.NoError(t, do(), what)
		w.on(nil)
		all := w.asked()
		require.Equal(t, []string{"UpdateItem", "UpdateItem", "GetItem"}, all[max(0, len(all)-3):], what)
	}
	q := request()
	var r store.Record
	same := func(what string, do func() (store.Record, error)) {
		t.Helper()
		lost(what, func() (err error) { r, err = do(); return err })
		got, err := s.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		got.Now = r.Now
		require.Equal(t, r, got, what)
	}
	same("claim", func() (store.Record, error) { return s.Claim(t.Context(), q) })
	lost("renewal", func() error {
		gone, err := s.Renew(t.Context(), 2*time.Hour, []store.Claim{r.Claim()})
		require.Empty(t, gone)
		return err
	})
	same("mark unknown", func() (store.Record, error) {
		return s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	})
	q = again(q)
	same("take-over", func() (store.Record, error) { return s.TakeOver(t.Context(), q, r) })
	same("amendment", func() (store.Record, error) {
		return s.Amend(t.Context(), r, store.Change{Verb: store.NotApplied, Force: true, Who: "ann"})
	})
	require.Equal(t, 2, r.Generation)
	q = again(q)
	same("claim of a free record", func() (store.Record, error) { return s.Claim(t.Context(), q) })
	same("result", func() (store.Record, error) { return s.Report(t.Context(), r.Claim(), done("x")) })
	require.Equal(t, []store.Verb{
		store.Claimed, store.MarkUnknown, store.TookOver, store.NotApplied, store.Claimed, store.Complete,
	}, verbs(t, s, q.Ref))
}

// Between the lost answer and the client's second try somebody else has changed the
// record: what was done is still known to have been done.
func TestLostAnswerIsRecognisedUnderALaterChange(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	other := open(t, connect(t), dynamodb.Options{Table: s.Table()})
	q := request()
	seen, err := s.Report(t.Context(), claim(t, s, q).Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	w.loseAnswers("UpdateItem", 1, func() { claim(t, other, again(q)) })
	r, err := s.Amend(t.Context(), seen, store.Change{Verb: store.NotApplied, Force: true, Who: "ann"})
	require.NoError(t, err, "ErrConflict would say that it was not done")
	require.Equal(t, 2, r.Generation)
	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.NotApplied, store.Claimed}, verbs(t, s, q.Ref))
}

// All answers are lost: the caller hears that it may have been done, and the same call
// again finds out.
func TestLostAnswersAreNoRefusal(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{}, once)
	q := request()
	w.loseAnswers("UpdateItem", 1)
	_, err := s.Claim(t.Context(), q)
	require.ErrorIs(t, err, errCut)
	r := claim(t, s, q)
	require.EqualValues(t, 1, r.Fence)
	for _, c := range []store.Change{{Verb: store.NotApplied}, {Verb: store.NotApplied}} {
		w.loseAnswers("UpdateItem", 1)
		if _, err = s.Report(t.Context(), r.Claim(), c); err != nil {
			require.ErrorIs(t, err, errCut)
		}
	}
	r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.NotApplied})
	require.NoError(t, err)
	require.Equal(t, 2, r.Generation, "counted once")
	require.Equal(t, []store.Verb{store.Claimed, store.NotApplied}, verbs(t, s, q.Ref))
}

// A request that is never sent has done nothing, however often.
func TestRequestThatDoesNotArriveIsSentAgain(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	failures := 2
	w.on(func(c call) (*http.Response, error) {
		if failures > 0 {
			failures--
			return nil, errCut
		}
		return c.send()
	})
	r := claim(t, s, request())
	require.Equal(t, []store.Verb{store.Claimed}, verbs(t, s, r.Ref))
}

// A server that hangs holds a call for the timeout at most.
func TestTimeoutBoundsACall(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{Timeout: 200 * time.Millisecond})
	q := request()
	r := claim(t, s, q)
	w.on(func(c call) (*http.Response, error) {
		<-c.ctx.Done()
		return nil, c.ctx.Err()
	})
	_, err := s.Report(t.Context(), r.Claim(), done("x"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	w.on(nil)
	got, err := s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	require.Equal(t, store.Completed, got.State)
}

// A claim whose caller has left is made nevertheless, and then given up: the next
// attempt need not watch it.
func TestClaimWhoseCallerHasLeftIsGivenUp(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	leave := func(do func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		arrived, goOn := make(chan struct{}), make(chan struct{})
		w.on(func(c call) (*http.Response, error) {
			if c.operation == "UpdateItem" {
				w.on(nil)
				close(arrived)
				<-goOn
			}
			return c.send()
		})
		left := make(chan error)
		go func() { left <- do(ctx) }()
		<-arrived
		cancel()
		require.ErrorIs(t, <-left, context.Canceled)
		close(goOn)
	}
	until := func(ref store.Ref, state store.State, fence int64) {
		t.Helper()
		require.Eventually(t, func() bool {
			r, err := s.Get(t.Context(), ref)
			return err == nil && r.State == state && r.Fence == fence
		}, 10*time.Second, 5*time.Millisecond)
	}
	q := request()
	leave(func(ctx context.Context) error { _, err := s.Claim(ctx, q); return err })
	until(q.Ref, store.Free, 1)
	r := claim(t, s, again(q))
	r, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	leave(func(ctx context.Context) error { _, err := s.TakeOver(ctx, again(q), r); return err })
	until(q.Ref, store.Unknown, 3)
	h, err := s.History(t.Context(), q.Ref)
	require.NoError(t, err)
	require.Equal(t, "the caller had gone before it was claimed", h[1].Why)
	require.Equal(t, store.MarkUnknown, h[len(h)-1].Verb)

	// Who asks again in time keeps it.
	q = request()
	back := make(chan store.Record)
	leave(func(ctx context.Context) error {
		_, err := s.Claim(ctx, q)
		go func() {
			r, _ := s.Claim(context.WithoutCancel(t.Context()), q)
			back <- r
		}()
		require.Eventually(t, func() bool { return s.Waiting(q.Token) == 1 }, 10*time.Second, time.Millisecond)
		return err
	})
	r = <-back
	require.Equal(t, store.InFlight, r.State)
	require.Equal(t, q.Token, r.Token)
}

func TestCloseWaitsForClaimsAndEndsTheRest(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	q := request()
	ctx, cancel := context.WithCancel(t.Context())
	w.on(func(c call) (*http.Response, error) {
		cancel()
		return c.send()
	})
	_, _ = s.Claim(ctx, q) // its caller may have left
	require.NoError(t, s.Close())
	w.on(nil)
	other := open(t, connect(t), dynamodb.Options{Table: s.Table()})
	before, err := other.Get(t.Context(), q.Ref)
	require.NoError(t, err, "the claim was still under way after Close")
	require.Contains(t, []store.State{store.InFlight, store.Free}, before.State)

	_, err = s.Claim(t.Context(), request())
	require.ErrorIs(t, err, dynamodb.ErrClosed)
	_, err = s.Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, dynamodb.ErrClosed)
	_, err = s.Sweep(t.Context(), 1)
	require.ErrorIs(t, err, dynamodb.ErrClosed)
	require.NoError(t, s.Close())
}
