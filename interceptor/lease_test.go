package interceptor_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// beside runs a second attempt while the first is at work, and wants one body for both.
func (w *world) beside(after time.Duration) {
	first := make(chan error)
	go func() { _, err := w.attempt(order7); first <- err }()
	time.Sleep(after)
	out, err := w.attempt(order7)
	require.NoError(w.t, err)
	require.Equal(w.t, receipt{"a", 500}, out)
	require.NoError(w.t, <-first)
	require.Equal(w.t, 1, w.runs())
}

func TestLease_LastsUntilTheOutcomeIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		up := time.Now().Add(5 * time.Second)
		s.report = func() error {
			if time.Now().Before(up) {
				return errDown
			}
			return nil
		}
		newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), Lease: time.Second}, succeed).beside(2 * time.Second)
	})
}

func TestLease_ARenewalWhoseAnswerNeverComesIsTriedAgainWithinTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		var hung atomic.Bool
		s.renew = func() error {
			if !hung.Swap(true) {
				time.Sleep(time.Second) // as long as it has
				return errDown
			}
			return nil
		}
		newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), Lease: 3 * time.Second}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			time.Sleep(8 * time.Second)
			return succeed(ctx, run, in)
		}).beside(time.Second)
	})
}

func TestLocal_RerunGoesOnAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		if run == 1 {
			return receipt{}, effectonce.Unknown(io.EOF)
		}
		return succeed(ctx, run, in)
	})
	result(t, w.run(func(ctx workflow.Context) (out receipt, err error) {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Millisecond, MaximumAttempts: 3},
		})
		err = workflow.ExecuteLocalActivity(ctx, "Charge", order7).Get(ctx, &out)
		return out, err
	}))
	require.Equal(t, []string{w.keys[0], w.keys[0]}, w.keys)
}

// A body that says how far it is, and then waits in a sub-effect, would otherwise
// resume from what the attempt before had said.
func TestHeartbeat_WaitingSaysAgainWhatTheBodySaidLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		down := false
		start := time.Now()
		s.claim = func() error {
			if down && time.Since(start) < 5*time.Second {
				return errDown
			}
			return nil
		}
		p := interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun(), SubEffects: map[string]interceptor.Unknown{"pay": interceptor.Rerun()}}
		w := newWorldOn(t, s, p, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			down = true
			activity.RecordHeartbeat(ctx, "item 3")
			_, err := effectonce.Do(ctx, "pay", 4, func(context.Context) (int, error) { return 4, nil })
			if err != nil {
				return receipt{}, err
			}
			return succeed(ctx, run, in)
		})
		var said []string
		result(t, w.run(func(ctx workflow.Context) (receipt, error) {
			return charge(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Second}), order7)
		}, func(env *sdktest.TestWorkflowEnvironment) {
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
				text := "nothing"
				if details.HasValues() {
					require.NoError(t, details.Get(&text))
				}
				said = append(said, text)
			})
		}))
		require.Greater(t, len(said), 1)
		for _, text := range said {
			require.Equal(t, "item 3", text)
		}
	})
}
