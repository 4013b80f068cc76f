package interceptor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// loser loses the first answer of an activity, as a worker does that dies once the
// outcome is recorded. Temporal makes a second attempt of the same scheduled activity.
type loser struct {
	sdkinterceptor.WorkerInterceptorBase
	lost func() // what happens before the second attempt
	once bool
}

type losing struct {
	sdkinterceptor.ActivityInboundInterceptorBase
	*loser
}

func (l *loser) InterceptActivity(_ context.Context, next sdkinterceptor.ActivityInboundInterceptor) sdkinterceptor.ActivityInboundInterceptor {
	a := &losing{loser: l}
	a.Next = next
	return a
}

func (l *losing) ExecuteActivity(ctx context.Context, in *sdkinterceptor.ExecuteActivityInput) (any, error) {
	out, err := l.Next.ExecuteActivity(ctx, in)
	if !l.once {
		l.once = true
		l.lost()
		return nil, errors.New("the worker died")
	}
	return out, err
}

// losingOne has the first answer lost.
func (w *world) losingOne(lost func()) func(*sdktest.TestWorkflowEnvironment) {
	return func(env *sdktest.TestWorkflowEnvironment) {
		env.SetWorkerOptions(workerOptions(&loser{lost: lost}, w.ic))
	}
}

// renamed is a policy whose keys change with a deploy.
func renamed(deployed *bool) interceptor.Policy {
	return interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Key: func(context.Context, []any) (string, error) {
		if *deployed {
			return "new key", nil
		}
		return "old key", nil
	}}
}

func TestDrift_ADeployThatRenamesAFieldBetweenTwoAttemptsRunsNothingTwice(t *testing.T) {
	t.Parallel()
	deployed := false
	w := newWorld(t, renamed(&deployed), succeed)
	require.Equal(t, receipt{"a", 500}, result(t, w.run(chargeOnce(order7, 2), w.losingOne(func() { deployed = true }))))
	require.Equal(t, 1, w.runs())
	require.Len(t, w.records(), 1)
}

func TestDrift_AfterTheRecordWasForgottenTheNextAttemptRuns(t *testing.T) {
	t.Parallel()
	deployed := false
	w := newWorld(t, renamed(&deployed), succeed)
	require.Equal(t, receipt{"b", 500}, result(t, w.run(chargeOnce(order7, 2), w.losingOne(func() {
		deployed = true
		_, err := w.store.Amend(t.Context(), w.record(), store.Change{Verb: store.Forget, Who: "ops", Why: "once more"})
		require.NoError(t, err)
	}))))
	require.Len(t, w.records(), 1)
}

// Temporal lets a workflow use an activity ID again once its activity has ended.
func TestDrift_AnActivityIDUsedAgainIsAnotherAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	result(t, w.run(func(ctx workflow.Context) (out receipt, err error) {
		options := workflow.GetActivityOptions(attempts(ctx, 1))
		options.ActivityID = "charge"
		ctx = workflow.WithActivityOptions(ctx, options)
		for id := range int64(3) {
			if out, err = charge(ctx, chargeIn{Order: id, Cents: 5}); err != nil {
				return out, err
			}
		}
		return out, nil
	}))
	require.Equal(t, 3, w.runs())
}

func TestWindow_IsOverAlsoWhereNobodyDropsOutcomes(t *testing.T) {
	t.Parallel()
	var late time.Duration
	s := memory.New(memory.Options{Clock: func() time.Time { return time.Now().Add(late) }})
	w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Retention: time.Hour, ForgetAfterRetention: true}, succeed)
	for _, want := range []string{"a", "a"} {
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, want, out.ID)
	}
	late = time.Hour + time.Second
	for _, want := range []string{"b", "b"} {
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, want, out.ID)
	}
	require.Equal(t, w.keys[0]+"-2", w.keys[1])
}

// All workers were down for longer than the window, before Temporal heard of the result.
func TestWindow_ACallThatWasCompletedIsNotRunAgainByItsOwnRetry(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{false, true} {
		var late time.Duration
		s := memory.New(memory.Options{Clock: func() time.Time { return time.Now().Add(late) }})
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Retention: time.Hour, ForgetAfterRetention: true}, succeed)
		env := w.run(chargeOnce(order7, 2), w.losingOne(func() {
			late = 2 * time.Hour
			if dropped {
				_, err := s.Expire(t.Context(), 1)
				require.NoError(t, err)
			}
		}))
		if dropped {
			require.Equal(t, effectonce.ErrTypeOutcomeExpired, failure(t, env).Type())
		} else {
			require.Equal(t, receipt{"a", 500}, result(t, env))
		}
		require.Equal(t, 1, w.runs())
	}
}
