package testsuite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// The tenant of a start reaches the calls of the workflow, its children and its
// continued runs, however the workflow was started.
func TestTenantOfTheStart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()})
	once := charge(10*time.Second, 1)
	l.work(setup{
		options: options,
		workflows: map[string]any{
			"once": once,
			"updated": func(ctx workflow.Context, in order) error {
				done := false
				err := workflow.SetUpdateHandler(ctx, "go", func(ctx workflow.Context) error { done = true; return nil })
				if err != nil {
					return err
				}
				if err := workflow.Await(ctx, func() bool { return done }); err != nil {
					return err
				}
				_, err = once(ctx, in)
				return err
			},
			"deep": func(ctx workflow.Context, in order, level int) error {
				if level == 0 {
					ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{})
					return workflow.ExecuteChildWorkflow(ctx, "once", in).Get(ctx, nil)
				}
				return workflow.NewContinueAsNewError(ctx, "deep", in, level-1)
			},
		},
		activities: map[string]any{"Charge": l.charge},
	})
	plugin, err := interceptor.NewPlugin(l.store, options)
	require.NoError(t, err)
	c := l.dial(client.Options{Plugins: []client.Plugin{plugin}})
	ctx := effectonce.StartWithTenant(t.Context(), "acme")
	start := func(id string) client.StartWorkflowOptions {
		return client.StartWorkflowOptions{ID: id, TaskQueue: l.queue}
	}
	get := func(run client.WorkflowRun) {
		t.Helper()
		l.started = append(l.started, run)
		require.NoError(t, run.Get(t.Context(), nil))
	}

	run, err := c.ExecuteWorkflow(ctx, start("executed"), "once", order{ID: 1, Cents: 5})
	require.NoError(t, err)
	get(run)
	run, err = c.SignalWithStartWorkflow(ctx, "signalled", "s", nil, start("signalled"), "once", order{ID: 2, Cents: 5})
	require.NoError(t, err)
	get(run)
	updated := start("updated")
	updated.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
	operation := c.NewWithStartWorkflowOperation(updated, "updated", order{ID: 3, Cents: 5})
	_, err = c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: operation,
		UpdateOptions:          client.UpdateWorkflowOptions{UpdateName: "go", WaitForStage: client.WorkflowUpdateStageCompleted},
	})
	require.NoError(t, err)
	run, err = operation.Get(t.Context())
	require.NoError(t, err)
	get(run)
	run, err = c.ExecuteWorkflow(ctx, start("deep"), "deep", order{ID: 4, Cents: 5}, 2)
	require.NoError(t, err)
	get(run)
	_, err = c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: "schedule", TriggerImmediately: true,
		Action: &client.ScheduleWorkflowAction{ID: "scheduled", TaskQueue: l.queue, Workflow: "once", Args: []any{order{ID: 5, Cents: 5}}},
	})
	require.NoError(t, err)
	l.until("the schedule has fired", func() bool { return len(l.effects()) == 5 })

	require.Len(t, l.records(), 5)
	for _, r := range l.records() {
		require.Equal(t, "acme", r.Tenant)
	}
}
