package interceptor_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// IDs are sometimes raw bytes in a string. JSON would turn all of them into one.
func TestInvalidUTF8_InWhatAWorkflowSaysIsRefused(t *testing.T) {
	t.Parallel()
	for what, with := range map[string]func(workflow.Context, string) workflow.Context{
		"tenant": effectonce.WithTenant, "agent": effectonce.WithAgent, "intent": effectonce.WithIntent, "action ID": effectonce.WithActionID,
	} {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
		app := failure(t, w.run(func(ctx workflow.Context) (receipt, error) { return charge(with(attempts(ctx, 3), "\xff"), order7) }))
		require.Equal(t, effectonce.ErrTypeInput, app.Type())
		require.True(t, app.NonRetryable())
		require.Contains(t, app.Message(), "the "+what+" is not valid UTF-8")
		require.Zero(t, w.runs())
	}
}

func TestHeader_WithoutARootIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	var suite sdktest.WorkflowTestSuite
	suite.SetHeader(&commonpb.Header{Fields: map[string]*commonpb.Payload{"effectonce": {Data: []byte(`{"v":1}`)}}})
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(workerOptions(w.ic))
	env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
	_, err := env.ExecuteActivity("Charge", order7)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, effectonce.ErrTypeHeader, app.Type())
	require.Zero(t, w.runs())
}
