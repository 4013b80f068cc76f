package interceptor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// A Key function may ask somebody. That it failed says nothing about the input.
func TestKey_ThatFailedIsTriedAgainUnlessTheInputIsBad(t *testing.T) {
	t.Parallel()
	policy := func(key func(n int) (string, error)) interceptor.Policy {
		n := 0
		return interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Key: func(context.Context, []any) (string, error) {
			n++
			return key(n)
		}}
	}
	w := newWorld(t, policy(func(n int) (string, error) {
		if n == 1 {
			return "", errors.New("approvals: connection refused")
		}
		return "approval-1", nil
	}), succeed)
	require.Equal(t, receipt{"a", 500}, result(t, w.run(chargeOnce(order7, 3))))

	for name, bad := range map[string]func(int) (string, error){
		"empty": func(int) (string, error) { return "", nil },
		"non-retryable": func(int) (string, error) {
			return "", temporal.NewNonRetryableApplicationError("no approval", "x", nil)
		},
	} {
		w := newWorld(t, policy(bad), succeed)
		app := failure(t, w.run(chargeOnce(order7, 3)))
		require.Equal(t, effectonce.ErrTypeInput, app.Type(), name)
		require.True(t, app.NonRetryable(), name)
		require.Zero(t, w.runs(), name)
	}
}

// A child that nothing tells apart gets no root, rather than one that could be another
// child's after a reset.
func TestChild_WhoseInputHasNoCanonicalFormGoesByItsOwnRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	log := &warnings{}
	var suite sdktest.WorkflowTestSuite
	suite.SetLogger(log)
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(workerOptions(w.ic))
	env.RegisterWorkflowWithOptions(func(workflow.Context, any) error { return nil }, workflow.RegisterOptions{Name: "child"})
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{})
		return workflow.ExecuteChildWorkflow(ctx, "child", map[string]any{"id": float64(1 << 60)}).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "parent"})
	env.ExecuteWorkflow("parent")
	require.NoError(t, env.GetWorkflowError())
	require.Len(t, log.texts, 1)
	require.Contains(t, log.texts[0], "sent no root")
}
