package interceptor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// After a reset, a child of the run before may still be there: the parent cannot start
// its own under the same ID until that one is gone.
func TestChild_ThatCouldNotBeStartedDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	busy := func(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Minute) }
	parent := func(occupied bool) func(workflow.Context) error {
		return func(ctx workflow.Context) error {
			ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: "shipment 7"})
			if occupied {
				other := workflow.ExecuteChildWorkflow(ctx, "busy")
				if err := other.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
					return err
				}
				err := workflow.ExecuteChildWorkflow(ctx, "ship").Get(ctx, nil)
				if started := new(serviceerror.WorkflowExecutionAlreadyStarted); !errors.As(err, &started) {
					return err
				}
				if err := other.Get(ctx, nil); err != nil {
					return err
				}
			}
			return workflow.ExecuteChildWorkflow(ctx, "ship").Get(ctx, nil)
		}
	}
	for _, occupied := range []bool{false, true} {
		env := w.run(parent(occupied), func(env *sdktest.TestWorkflowEnvironment) {
			env.RegisterWorkflowWithOptions(chargeOnce(order7, 1), workflow.RegisterOptions{Name: "ship"})
			env.RegisterWorkflowWithOptions(busy, workflow.RegisterOptions{Name: "busy"})
		})
		require.NoError(t, env.GetWorkflowError())
	}
	require.Equal(t, 1, w.runs())
}

// fragile has a method that only JSON would call; a local activity needs none.
type fragile struct{ count *int }

func (f fragile) MarshalJSON() ([]byte, error) { return []byte{byte('0' + *f.count)}, nil }

func TestWorkflow_AnArgumentWhoseMethodPanicsFailsNoCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	env := w.run(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
		return workflow.ExecuteLocalActivity(ctx, "Look", fragile{}).Get(ctx, nil)
	}, func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(func(context.Context, fragile) error { w.add(""); return nil }, activity.RegisterOptions{Name: "Look"})
	})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, w.runs())
}
