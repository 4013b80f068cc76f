package testsuite_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// interrupted has its effect, heartbeats until its context is done, and returns its
// result or the context's error. It does that once; other runs only have the effect.
func (d *desk) interrupted(fails bool, causes chan<- error) func(context.Context, order) (provider.Receipt, error) {
	return func(ctx context.Context, in order) (provider.Receipt, error) {
		receipt, err := d.Charge(ctx, in)
		if err != nil || len(d.bodies()) > 1 {
			return receipt, err
		}
		for ctx.Err() == nil {
			activity.RecordHeartbeat(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
		causes <- context.Cause(ctx)
		if fails {
			return provider.Receipt{}, ctx.Err()
		}
		return receipt, nil
	}
}

func execution(run client.WorkflowRun) *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()}
}

// An operator pauses a running activity, or resets it: its context is cancelled at the
// next heartbeat, and it runs again later, perhaps as attempt 1.
func TestActivityPausedOrResetByAnOperator(t *testing.T) {
	t.Parallel()
	pause := func(l *lab, run client.WorkflowRun) (resume func()) {
		_, err := l.client.WorkflowService().PauseActivity(l.t.Context(), &workflowservice.PauseActivityRequest{
			Namespace: l.namespace, Execution: execution(run), Activity: &workflowservice.PauseActivityRequest_Type{Type: "Charge"},
		})
		require.NoError(l.t, err)
		return func() {
			_, err := l.client.WorkflowService().UnpauseActivity(l.t.Context(), &workflowservice.UnpauseActivityRequest{
				Namespace: l.namespace, Execution: execution(run), Activity: &workflowservice.UnpauseActivityRequest_Type{Type: "Charge"},
				ResetAttempts: true, ResetHeartbeat: true,
			})
			require.NoError(l.t, err)
		}
	}
	reset := func(l *lab, run client.WorkflowRun) (resume func()) {
		_, err := l.client.WorkflowService().ResetActivity(l.t.Context(), &workflowservice.ResetActivityRequest{
			Namespace: l.namespace, Execution: execution(run), Activity: &workflowservice.ResetActivityRequest_Type{Type: "Charge"},
			ResetHeartbeat: true,
		})
		require.NoError(l.t, err)
		return func() {}
	}
	hold := func(*lab) interceptor.Unknown { return interceptor.Hold() }
	ask := func(l *lab) interceptor.Unknown { return interceptor.Reconcile(l.ask) }
	rerun := func(*lab) interceptor.Unknown { return interceptor.Rerun() }
	for name, c := range map[string]struct {
		do      func(*lab, client.WorkflowRun) func()
		cause   error
		unknown func(*lab) interceptor.Unknown
		fails   bool
		effects int
		bare    bool // the workflow's worker sends no header
	}{
		"PausedAndSucceeded":       {pause, activity.ErrActivityPaused, hold, false, 1, false},
		"PausedAndFailed/Hold":     {pause, activity.ErrActivityPaused, hold, true, 1, false},
		"PausedAndFailed/AskedFor": {pause, activity.ErrActivityPaused, ask, true, 1, false},
		"PausedAndFailed/Rerun":    {pause, activity.ErrActivityPaused, rerun, true, 2, false}, // what a rerun at a deaf provider means
		"ResetAndSucceeded":        {reset, activity.ErrActivityReset, hold, false, 1, false},
		"ResetAndFailed/Hold":      {reset, activity.ErrActivityReset, hold, true, 1, false},
		"ResetAndFailed/AskedFor":  {reset, activity.ErrActivityReset, ask, true, 1, false},
		"PausedWithoutAHeader":     {pause, activity.ErrActivityPaused, ask, true, 1, true},
		"ResetWithoutAHeader":      {reset, activity.ErrActivityReset, ask, true, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			causes := make(chan error, 1)
			options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: c.unknown(l)})
			flow := setup{options: options, workflows: map[string]any{"main": beating(30*time.Second, 2*time.Second)}, worker: workflowsOnly}
			if c.bare {
				flow.options = interceptor.Options{}
			}
			l.work(flow)
			l.work(setup{options: options, activities: map[string]any{"Charge": l.interrupted(c.fails, causes)}, worker: activitiesOnly})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("the effect", func() bool { return len(l.effects()) == 1 })
			resume := c.do(l, run)
			assert.ErrorIs(t, <-causes, c.cause)
			l.until("the outcome is recorded", func() bool { return l.record().State != store.InFlight || l.record().Attempt > 1 })
			if !c.fails {
				assert.Equal(t, store.Completed, l.record().State)
			} else {
				resume()
			}
			if strings.HasSuffix(name, "/Hold") {
				l.until("held", func() bool { return l.lastFailure(run) == effectonce.ErrTypeUnknown })
				l.resolve(`{"id":"charge-1"}`)
			}
			assert.NotEmpty(t, await[provider.Receipt](l, run).ID)
			assert.Len(t, l.effects(), c.effects)
			assert.Len(t, l.bodies(), c.effects)
		})
	}
}

// An operator changes timeouts, retries and task queue between two attempts: none of
// them is part of what the action is.
func TestOptionsOfALiveActivityAreChanged(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()})
	stop := l.work(setup{options: options, activities: map[string]any{"Charge": func(ctx context.Context, _ order) (provider.Receipt, error) {
		l.began(ctx)
		return provider.Receipt{}, errDown
	}}, worker: activitiesOnly})
	l.work(setup{options: options, workflows: map[string]any{"main": charge(5*time.Second, 0)}, worker: workflowsOnly})
	run := l.start("main", order{ID: 1, Cents: 5})
	l.until("it failed", func() bool { return len(l.bodies()) > 0 })
	failed := len(l.bodies())
	_, err := l.client.WorkflowService().UpdateActivityOptions(t.Context(), &workflowservice.UpdateActivityOptionsRequest{
		Namespace: l.namespace, Execution: execution(run), Activity: &workflowservice.UpdateActivityOptionsRequest_Type{Type: "Charge"},
		ActivityOptions: &activitypb.ActivityOptions{
			TaskQueue:           &taskqueuepb.TaskQueue{Name: "elsewhere", Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
			StartToCloseTimeout: durationpb.New(time.Minute),
		},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"task_queue.name", "start_to_close_timeout"}},
	})
	require.NoError(t, err)
	stop()
	l.queue = "elsewhere"
	var seen activity.Info
	var claimed store.Record
	l.work(setup{options: options, activities: map[string]any{"Charge": func(ctx context.Context, in order) (provider.Receipt, error) {
		seen, claimed = activity.GetInfo(ctx), l.record()
		return l.Charge(ctx, in)
	}}, worker: activitiesOnly})
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	assert.Equal(t, "elsewhere", seen.TaskQueue)
	// Some servers tell the worker its old timeout, others the new one.
	assert.InDelta(t, seen.StartToCloseTimeout.Seconds(), claimed.Deadline.Sub(claimed.Now).Seconds(), 3, "the claim is for the attempt as the worker has it")
	sent := l.bodies()
	assert.Greater(t, len(sent), failed)
	assert.Len(t, slices.Compact(sent), 1, "one key")
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.records(), 1)
}
