package testsuite_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

var scheduledStart = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// Every fire of a schedule is new work, also when an interval is filled in again that
// has run already; unless the nominal time is the action's ID.
func TestScheduleTriggeredAndBackfilledTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options: settled(map[string]interceptor.Policy{
			"Charge": {Scope: effectonce.Run, Unknown: interceptor.Hold()},
			"Report": {Scope: effectonce.Namespace, Unknown: interceptor.Hold()},
		}),
		activities: map[string]any{"Charge": l.Charge, "Report": func(ctx context.Context, in order) (provider.Receipt, error) {
			return l.Charge(ctx, in)
		}},
		workflows: map[string]any{"main": func(ctx workflow.Context) error {
			ctx = calling(ctx, 20*time.Second, 0)
			if err := workflow.ExecuteActivity(ctx, "Charge", order{ID: 1, Cents: 5}).Get(ctx, nil); err != nil {
				return err
			}
			nominal, ok := workflow.GetTypedSearchAttributes(ctx).GetTime(scheduledStart)
			if !ok {
				return errors.New("there is no nominal time")
			}
			once := effectonce.WithActionID(ctx, "report "+nominal.UTC().Format(time.RFC3339))
			return workflow.ExecuteActivity(once, "Report", order{ID: 2, Cents: 7}).Get(ctx, nil)
		}},
	})
	count := func() [2]int {
		var n [2]int
		for _, e := range l.effects() {
			var of provider.ChargeRequest
			require.NoError(t, json.Unmarshal(e.Body, &of))
			n[of.OrderID-1]++
		}
		return n
	}
	ctx := t.Context()
	all := enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL
	from := time.Now().Add(-10 * time.Hour).Truncate(time.Hour).Add(30 * time.Minute)
	fill := func(id string) client.ScheduleHandle {
		schedule, err := l.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
			ID: id, Paused: true, Overlap: all,
			Spec:   client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
			Action: &client.ScheduleWorkflowAction{ID: id, TaskQueue: l.queue, Workflow: "main"},
		})
		require.NoError(t, err)
		require.NoError(t, schedule.Backfill(ctx, client.ScheduleBackfillOptions{
			Backfill: []client.ScheduleBackfill{{Start: from, End: from.Add(2 * time.Hour), Overlap: all}},
		}))
		return schedule
	}
	fill("hourly")
	l.until("two fires", func() bool { return count() == [2]int{2, 2} })
	schedule := fill("recreated") // the same two instants; of one schedule, the server refuses the IDs
	l.until("the backfill", func() bool { return count()[0] == 4 })
	require.NoError(t, schedule.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: all}))
	l.until("the trigger", func() bool { return count() == [2]int{5, 3} })
	l.until("all have ended", func() bool {
		open, err := schedule.Describe(ctx)
		require.NoError(t, err)
		return len(open.Info.RunningWorkflows) == 0 && open.Info.NumActions == 3
	})
	assert.Equal(t, [2]int{5, 3}, count())
}

// next returns the run that the server started after one that completed or failed.
func (l *lab) next(run client.WorkflowRun) client.WorkflowRun {
	l.t.Helper()
	_ = l.ended(run, nil)
	events := l.history(run)
	last := events[len(events)-1]
	id := cmp.Or(last.GetWorkflowExecutionCompletedEventAttributes().GetNewExecutionRunId(),
		last.GetWorkflowExecutionFailedEventAttributes().GetNewExecutionRunId())
	require.NotEmpty(l.t, id, "there is no next run")
	return l.client.GetWorkflow(l.t.Context(), run.GetID(), id)
}

// A cron tick is new work, although the server copies the first one's header. A chain
// would have every tick answered by the first: it is refused.
func TestCronTick(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run, effectonce.Workflow, effectonce.Chain} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			options := charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()})
			l.work(setup{options: options, workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge}})
			plugin, err := interceptor.NewPlugin(l.store, options)
			require.NoError(t, err)
			c := l.dial(client.Options{Plugins: []client.Plugin{plugin}})
			ctx := effectonce.StartWithTenant(t.Context(), "acme") // so that there is a header
			run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "cron", TaskQueue: l.queue, CronSchedule: "@every 1s"}, "main", order{ID: 1, Cents: 5})
			require.NoError(t, err)
			defer func() { _ = l.client.TerminateWorkflow(ctx, run.GetID(), "", "the test is over") }()
			if scope == effectonce.Chain {
				l.until("it is refused, twice", l.attempted(run, 3))
				assert.Equal(t, effectonce.ErrTypeScope, l.lastFailure(run))
				assert.Empty(t, l.effects())
				return
			}
			third := l.next(l.next(run))
			_ = l.ended(third, nil) // the SDK calls it "continue as new"
			if scope == effectonce.Workflow {
				assert.Len(t, l.effects(), 1)
				return
			}
			keys := keysOf(l.effects())
			assert.GreaterOrEqual(t, len(keys), 3)
			slices.Sort(keys)
			assert.Equal(t, keys, slices.Compact(slices.Clone(keys)), "each tick has a key of its own")
		})
	}
}

// failsFirst charges, and then fails its workflow's first attempt.
func failsFirst(ctx workflow.Context, in order) (provider.Receipt, error) {
	receipt, err := charge(20*time.Second, 0)(ctx, in)
	if err == nil && workflow.GetInfo(ctx).Attempt == 1 {
		err = temporal.NewApplicationError("the first attempt fails", "First")
	}
	return receipt, err
}

var twice = &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 2}

// With a retried workflow both wishes exist too: it starts anew, or goes on.
func TestWorkflowRetry(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 2, effectonce.Run: 2, effectonce.Chain: 1, effectonce.Workflow: 1} {
		for _, tenant := range []string{"", "acme"} { // without and with a header to be copied
			t.Run(fmt.Sprintf("%s/tenant=%q", scope, tenant), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				options := charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()})
				l.work(setup{options: options, workflows: map[string]any{"main": failsFirst}, activities: map[string]any{"Charge": l.Charge}})
				plugin, err := interceptor.NewPlugin(l.store, options)
				require.NoError(t, err)
				c := l.dial(client.Options{Plugins: []client.Plugin{plugin}})
				ctx := t.Context()
				if tenant != "" {
					ctx = effectonce.StartWithTenant(ctx, tenant)
				}
				first, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "retried", TaskQueue: l.queue, RetryPolicy: twice}, "main", order{ID: 1, Cents: 5})
				require.NoError(t, err)
				second := l.next(first)
				receipt := await[provider.Receipt](l, second)
				assert.Equal(t, fmt.Sprintf("charge-%d", effects), receipt.ID)
				assert.Equal(t, receipt, await[provider.Receipt](l, l.reset(second, 1)), "after a reset of the second attempt")
				assert.Len(t, l.effects(), effects)
			})
		}
	}
}

// The same for a child; and a reset of the parent repeats neither attempt's effects.
func TestChildRetryAndAResetOfTheParent(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 2, effectonce.Run: 2, effectonce.Chain: 1} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				activities: map[string]any{"Charge": l.Charge},
				workflows: map[string]any{"child": failsFirst, "main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
					ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{RetryPolicy: twice})
					return r, workflow.ExecuteChildWorkflow(ctx, "child", in).Get(ctx, &r)
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			receipt := await[provider.Receipt](l, run)
			assert.Len(t, l.effects(), effects)
			reset := l.reset(run, 1)
			await[provider.Receipt](l, reset)
			assert.Equal(t, receipt, await[provider.Receipt](l, l.reset(reset, 1)))
			assert.Len(t, l.effects(), effects)
		})
	}
}

// A child is reset itself, twice.
func TestResetOfAChild(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run, effectonce.Chain} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"grow": grow}, activities: map[string]any{"Charge": l.Charge},
			})
			same := order{ID: 1, Cents: 5}
			run := l.start("grow", branch{Order: same, Children: []branch{{Order: same, Children: []branch{{Order: same}}}}})
			await[any](l, run)
			require.Len(t, l.effects(), 3)
			var child client.WorkflowRun
			for _, e := range l.history(run) {
				if e.GetEventType() == enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED {
					x := e.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution()
					child = l.client.GetWorkflow(t.Context(), x.GetWorkflowId(), x.GetRunId())
				}
			}
			once := l.reset(child, 1)
			await[any](l, once)
			await[any](l, l.reset(once, 1))
			assert.Len(t, l.effects(), 3)
		})
	}
}

// Update and signal handlers make calls too, equal to those of the main function; a
// reset applies the updates and signals first.
func TestCallsOfHandlersAndAReset(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 3, effectonce.Run: 1} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				activities: map[string]any{"Charge": l.Charge},
				workflows: map[string]any{"main": func(ctx workflow.Context, in order) error {
					left := 3
					pay := func(ctx workflow.Context) error {
						_, err := charge(20*time.Second, 0)(ctx, in)
						left--
						return err
					}
					if err := workflow.SetUpdateHandler(ctx, "pay", pay); err != nil {
						return err
					}
					workflow.Go(ctx, func(ctx workflow.Context) {
						workflow.GetSignalChannel(ctx, "pay").Receive(ctx, nil)
						_ = pay(ctx)
					})
					if err := pay(ctx); err != nil {
						return err
					}
					return workflow.Await(ctx, func() bool { return left == 0 })
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("the main function's", func() bool { return len(l.effects()) == 1 })
			update, err := l.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
				WorkflowID: run.GetID(), RunID: run.GetRunID(), UpdateName: "pay", WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			require.NoError(t, err)
			require.NoError(t, update.Get(t.Context(), nil))
			require.NoError(t, l.client.SignalWorkflow(t.Context(), run.GetID(), run.GetRunID(), "pay", nil))
			await[any](l, run)
			assert.Len(t, l.effects(), effects)
			await[any](l, l.reset(run, 1))
			assert.Len(t, l.effects(), effects)
			assert.Len(t, l.records(), effects)
		})
	}
}

// Children with other workflow IDs work on overlapping invoices.
func TestBillingFanOutThroughChildren(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Run: 6, effectonce.Chain: 6, effectonce.Tenant: 3} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				activities: map[string]any{"Charge": l.Charge},
				workflows: map[string]any{"bill": chargeAll, "main": func(ctx workflow.Context) error {
					ctx = effectonce.WithTenant(ctx, "acme")
					var children []workflow.Future
					for _, part := range [][]order{{{ID: 1}, {ID: 2}}, {{ID: 2}, {ID: 3}}, {{ID: 3}, {ID: 1}}} {
						children = append(children, workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{}), "bill", part))
					}
					for _, f := range children {
						if err := f.Get(ctx, nil); err != nil {
							return err
						}
					}
					return nil
				}},
			})
			run := l.start("main")
			await[any](l, run)
			assert.Len(t, l.effects(), effects)
			await[any](l, l.reset(run, 1))
			assert.Len(t, l.effects(), effects)
		})
	}
}
