package interceptor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

func clientOptions(id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: id, TaskQueue: "q"}
}

func workerOptions(chain ...sdkinterceptor.WorkerInterceptor) sdkworker.Options {
	return sdkworker.Options{
		Interceptors:             chain,
		DeadlockDetectionTimeout: time.Minute, // the race detector on a busy machine is slow
	}
}

// attempt runs the activity once, as one attempt of its own.
func (w *world) attempt(in chargeIn) (out receipt, err error) {
	var suite sdktest.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(24 * time.Hour)
	env.SetWorkerOptions(workerOptions(w.ic))
	env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
	value, err := env.ExecuteActivity("Charge", in)
	if err != nil {
		return out, err
	}
	return out, value.Get(&out)
}

// broken is a store whose calls can be made to fail.
type broken struct {
	store.Store
	store.Lister
	claim, report, renew func() error
}

func (b *broken) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if b.claim != nil {
		if err := b.claim(); err != nil {
			return store.Record{}, err
		}
	}
	return b.Store.Claim(ctx, q)
}

func (b *broken) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if b.report != nil {
		if err := b.report(); err != nil {
			return store.Record{}, err
		}
	}
	return b.Store.Report(ctx, held, c)
}

func (b *broken) Renew(ctx context.Context, lease time.Duration, held []store.Claim) ([]store.Claim, error) {
	if b.renew != nil {
		if err := b.renew(); err != nil {
			return nil, err
		}
	}
	return b.Store.Renew(ctx, lease, held)
}

// newBroken returns a memory store that works until told otherwise.
func newBroken() *broken {
	s := memory.New(memory.Options{})
	return &broken{Store: s, Lister: s}
}

var errDown = errors.New("connection refused")

func TestWait_EightAttemptsAtOnceRunOneBodyAndGetOneAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			time.Sleep(3 * time.Second)
			return succeed(ctx, run, in)
		})
		type answer struct {
			receipt receipt
			err     error
		}
		answers := make(chan answer)
		for range 8 {
			go func() {
				out, err := w.attempt(order7)
				answers <- answer{out, err}
			}()
		}
		for range 8 {
			require.Equal(t, answer{receipt{"a", 500}, nil}, <-answers)
		}
		require.Equal(t, 1, w.runs())
	})
}

func TestWait_EndsWithATypedErrorWhenThePolicySaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Wait: 2 * time.Second}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			<-blocked
			return succeed(ctx, run, in)
		})
		owner := make(chan error)
		go func() { _, err := w.attempt(order7); owner <- err }()
		synctest.Wait()
		start := time.Now()
		_, err := w.attempt(order7)
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, effectonce.ErrTypeInFlight, app.Type())
		require.False(t, app.NonRetryable())
		require.GreaterOrEqual(t, app.NextRetryDelay(), time.Second)
		require.InDelta(t, 2, time.Since(start).Seconds(), 1)
		close(blocked)
		require.NoError(t, <-owner)
		require.Equal(t, 1, w.runs())
	})
}

func TestLease_ABodyThatRunsForManyLeasesKeepsItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), Lease: time.Second}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			time.Sleep(time.Minute)
			return succeed(ctx, run, in)
		})
		first := make(chan receipt)
		go func() { out, err := w.attempt(order7); require.NoError(t, err); first <- out }()
		time.Sleep(30 * time.Second)
		second, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, second, <-first)
		require.Equal(t, 1, w.runs())
	})
}

func TestLease_AStoreOutageLongerThanTheLeaseCutsNoBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		s.renew = func() error { return errDown }
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Lease: time.Second}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			select {
			case <-ctx.Done():
				return receipt{}, ctx.Err()
			case <-time.After(time.Minute):
				return succeed(ctx, run, in)
			}
		})
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, receipt{"a", 500}, out)
		require.Equal(t, store.Completed, w.record().State, "a late success is a success")
	})
}

func TestLease_WhoLostItIsCancelledAndHandsOutTheWinnersOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		s := newBroken()
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), Lease: 3 * time.Second}, nil)
		var up atomic.Bool
		s.renew = func() error {
			if up.Load() {
				return nil
			}
			return errDown
		}
		w.body = func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			if run == 1 {
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return receipt{}, ctx.Err()
			}
			return succeed(ctx, run, in)
		}
		loser := make(chan receipt)
		go func() { out, err := w.attempt(order7); require.NoError(t, err); loser <- out }()
		time.Sleep(4 * time.Second) // its lease is over, and it could not renew
		winner, err := w.attempt(order7)
		require.NoError(t, err)
		up.Store(true)
		require.Equal(t, winner, <-loser)
		require.Equal(t, effectonce.ErrLeaseLost, <-causes)
		require.Equal(t, receipt{"b", 500}, winner)
		require.Equal(t, w.keys[0], w.keys[1], "Rerun keeps the downstream key")
	})
}

func TestStoreDown_BeforeTheClaimNothingRunsAndTheAttemptWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 2
		s := newBroken()
		s.claim = func() error {
			if failures--; failures >= 0 {
				return errDown
			}
			return nil
		}
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed)
		_, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, 1, w.runs())
	})
}

func TestStoreDown_ForGoodIsARetryableErrorAndNothingRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		s.claim = func() error { return errDown }
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Wait: 5 * time.Second}, succeed)
		_, err := w.attempt(order7)
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, effectonce.ErrTypeStore, app.Type())
		require.False(t, app.NonRetryable())
		require.Zero(t, w.runs())
	})
}

func TestStoreDown_AfterTheEffectIsUnknownAndNeverSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		s.report = func() error { return errDown }
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Lease: time.Second, FailHeld: true}, succeed)
		for range 3 {
			_, err := w.attempt(order7)
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, effectonce.ErrTypeUnknown, app.Type())
		}
		require.Equal(t, 1, w.runs())
	})
}

func TestStoreDown_AShortOutageAfterTheEffectIsRiddenOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 3
		s := newBroken()
		s.report = func() error {
			if failures--; failures >= 0 {
				return errDown
			}
			return nil
		}
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed)
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, receipt{"a", 500}, out)
	})
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	// lostAnswer loses the answer of its first run.
	lostAnswer := func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		if run == 1 {
			return receipt{}, errDown
		}
		return succeed(ctx, run, in)
	}
	policy := func(ask interceptor.ReconcileFunc) interceptor.Policy {
		return interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Reconcile(ask)}
	}
	unknown := func(t *testing.T, err error) *temporal.ApplicationError {
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, effectonce.ErrTypeUnknown, app.Type())
		require.False(t, app.NonRetryable())
		return app
	}

	t.Run("applied: its result is recorded and handed out", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var asked interceptor.Question
			w := newWorld(t, policy(func(_ context.Context, q interceptor.Question) (interceptor.Answer, error) {
				asked = q
				return interceptor.Applied(receipt{"found", 500}), nil
			}), lostAnswer)
			_, err := w.attempt(order7)
			unknown(t, err)
			for range 2 {
				out, err := w.attempt(order7)
				require.NoError(t, err)
				require.Equal(t, receipt{"found", 500}, out)
			}
			require.Equal(t, 1, w.runs())
			require.Equal(t, w.keys[0], asked.Key, "it is asked for the key that was sent")
			require.Equal(t, []any{order7}, asked.Args)
		})
	})
	t.Run("not applied: believed only once the first request can no longer arrive", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var when []time.Duration
			start := time.Now()
			w := newWorld(t, policy(func(context.Context, interceptor.Question) (interceptor.Answer, error) {
				when = append(when, time.Since(start))
				return interceptor.NotApplied(), nil
			}), lostAnswer)
			_, err := w.attempt(order7)
			unknown(t, err)
			deadline := w.record().Deadline.Sub(start)
			time.Sleep(time.Minute) // so that settling ends within the second attempt
			out, err := w.attempt(order7)
			require.NoError(t, err)
			require.Equal(t, receipt{"b", 500}, out)
			require.GreaterOrEqual(t, when[len(when)-1], deadline+30*time.Second, "asked again after deadline and Settle")
			require.Len(t, when, 2)
			require.Equal(t, w.keys[0], w.keys[1], "a take-over keeps the key")
		})
	})
	t.Run("not applied at first, applied after settling: the late request counts", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			w := newWorld(t, policy(func(context.Context, interceptor.Question) (interceptor.Answer, error) {
				if asked++; asked == 1 {
					return interceptor.NotApplied(), nil
				}
				return interceptor.Applied(receipt{"late", 500}), nil
			}), lostAnswer)
			_, err := w.attempt(order7)
			unknown(t, err)
			time.Sleep(time.Minute)
			out, err := w.attempt(order7)
			require.NoError(t, err)
			require.Equal(t, receipt{"late", 500}, out)
			require.Equal(t, 1, w.runs())
		})
	})
	t.Run("cannot tell: stays unknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, policy(func(context.Context, interceptor.Question) (interceptor.Answer, error) {
			return interceptor.CannotTell("no such endpoint"), nil
		}), lostAnswer)
		_, err := w.attempt(order7)
		unknown(t, err)
		_, err = w.attempt(order7)
		require.Contains(t, unknown(t, err).Message(), "no such endpoint")
		require.Equal(t, store.Unknown, w.record().State)
	})
	t.Run("asking fails: stays unknown, with the cause", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, policy(func(context.Context, interceptor.Question) (interceptor.Answer, error) {
			return interceptor.Answer{}, errDown
		}), lostAnswer)
		_, err := w.attempt(order7)
		unknown(t, err)
		_, err = w.attempt(order7)
		require.ErrorContains(t, errors.Unwrap(unknown(t, err)), errDown.Error())
		require.Equal(t, 1, w.runs())
	})
}

func TestNested_TheInterceptorRegisteredTwiceClaimsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	again := newWorldOn(t, w.store, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	env := w.run(chargeOnce(order7, 1), func(env *sdktest.TestWorkflowEnvironment) {
		env.SetWorkerOptions(workerOptions(w.ic, w.ic, again.ic))
	})
	require.Equal(t, receipt{"a", 500}, result(t, env))
	require.Equal(t, int64(1), w.record().Fence)
}

func TestValueMock_LeavesNoRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	env := w.run(chargeOnce(order7, 1), func(env *sdktest.TestWorkflowEnvironment) {
		env.OnActivity("Charge", mock.Anything, order7).Return(receipt{"mock", 1}, nil)
	})
	require.Equal(t, receipt{"mock", 1}, result(t, env))
	require.Empty(t, w.records(), "value mocks bypass interceptors: mock with a function instead")
}
