package testsuite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// The workflow's worker is not instrumented yet, the activity's is: no header comes.
// The key then holds for the retries of the scheduled activity.
func TestActivityScheduledWithoutAHeader(t *testing.T) {
	t.Parallel()
	in := order{ID: 1, Cents: 5}
	policy := func(l *lab) interceptor.Policy {
		return interceptor.Policy{Scope: effectonce.Call, Unknown: interceptor.Reconcile(l.ask)}
	}
	t.Run("RetriesHaveOneEffect", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}})
		l.work(setup{workflows: map[string]any{"main": charge(20*time.Second, 0)}, worker: workflowsOnly})
		l.work(setup{options: charging(policy(l)), activities: map[string]any{"Charge": l.Charge}, worker: activitiesOnly})
		run := l.start("main", in)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
		assert.Equal(t, []int32{2}, attempts(l.history(run)))
		assert.Len(t, l.effects(), 1)
		assert.Equal(t, "scheduled", l.record().ScopeKind)
	})
	t.Run("RequireHeaderRefuses", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		options := charging(policy(l))
		options.RequireHeader = true
		stop := l.work(setup{workflows: map[string]any{"main": charge(20*time.Second, 0)}, worker: workflowsOnly})
		l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}, worker: activitiesOnly})
		run := l.start("main", in)
		l.until("it is refused, twice", l.attempted(run, 3))
		assert.Equal(t, effectonce.ErrTypeHeader, l.lastFailure(run))
		stop()
		l.work(setup{options: options, workflows: map[string]any{"main": charge(20*time.Second, 0)}, worker: workflowsOnly})
		assert.Empty(t, l.effects())
		assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID, "after the deploy and a reset")
	})
}

// saying writes a header of the name that we use into every call, as a worker of
// another version would.
type saying string

func (s saying) InjectFromWorkflow(_ workflow.Context, w workflow.HeaderWriter) error {
	w.Set("effectonce", &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(s),
	})
	return nil
}

func (saying) Inject(context.Context, workflow.HeaderWriter) error { return nil }
func (saying) Extract(ctx context.Context, _ workflow.HeaderReader) (context.Context, error) {
	return ctx, nil
}
func (saying) ExtractToWorkflow(ctx workflow.Context, _ workflow.HeaderReader) (workflow.Context, error) {
	return ctx, nil
}

// A header that this worker does not understand is a deploy's to cure: the call is
// retried, and nothing runs.
func TestHeaderOfANewerVersionOrGarbage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"Newer": `{"v":99,"root":"r"}`, "Garbage": `{"v":`, "NoVersion": `{}`, "NoRoot": `{"v":1}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.client = l.dial(client.Options{ContextPropagators: []workflow.ContextPropagator{saying(text)}})
			l.work(setup{workflows: map[string]any{"main": charge(20*time.Second, 0)}, worker: workflowsOnly})
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}),
				activities: map[string]any{"Charge": l.Charge}, worker: activitiesOnly,
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("it is refused, twice", l.attempted(run, 3))
			assert.Equal(t, effectonce.ErrTypeHeader, l.lastFailure(run))
			assert.Empty(t, l.bodies())
			assert.Empty(t, l.records())
		})
	}
}

// Histories recorded without the interceptor replay with it, and the reverse: open
// workflows survive a roll-out and a roll-back.
func TestHistoriesReplayWithAndWithoutTheInterceptor(t *testing.T) {
	t.Parallel()
	everything := func(ctx workflow.Context, left int) error {
		ctx = effectonce.WithIntent(calling(ctx, 20*time.Second, 2), "turn")
		f := workflow.ExecuteActivity(ctx, "Charge", order{ID: 1})
		workflow.Go(ctx, func(ctx workflow.Context) { _ = workflow.ExecuteActivity(ctx, "Charge", order{ID: 1}).Get(ctx, nil) })
		if err := workflow.ExecuteLocalActivity(ctx, "Charge", order{ID: 2}).Get(ctx, nil); err != nil {
			return err
		}
		_ = workflow.ExecuteActivity(ctx, "Fail").Get(ctx, nil)
		if err := workflow.ExecuteChildWorkflow(ctx, "child", branch{Order: order{ID: 3}}).Get(ctx, nil); err != nil {
			return err
		}
		if err := f.Get(ctx, nil); err != nil || left == 0 {
			return err
		}
		return workflow.NewContinueAsNewError(ctx, "main", left-1)
	}
	workflows := map[string]any{"main": everything, "child": grow}
	for name, with := range map[string]bool{"RecordedWithout": false, "RecordedWith": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			options := settled(map[string]interceptor.Policy{
				"Charge": {Scope: effectonce.Call, Unknown: interceptor.Hold()}, "Fail": {Scope: effectonce.Run, Unknown: interceptor.Rerun()},
			})
			s := setup{workflows: workflows, activities: map[string]any{
				"Charge": l.Charge, "Fail": func() error { return temporal.NewNonRetryableApplicationError("no", "No", nil) },
			}}
			if with {
				s.options = options
			}
			l.work(s)
			first := l.start("main", 1)
			last := l.followed(first)
			await[any](l, last)

			options.DataConverter = converter.GetDefaultDataConverter()
			ic, err := interceptor.New(l.store, options)
			require.NoError(t, err)
			for _, interceptors := range [][]sdkinterceptor.WorkerInterceptor{nil, {ic}} {
				replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{Interceptors: interceptors})
				require.NoError(t, err)
				for name, f := range workflows {
					replayer.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
				}
				for _, run := range []client.WorkflowRun{first, last} {
					assert.NoError(t, replayer.ReplayWorkflowHistory(quiet, &historypb.History{Events: l.history(run)}))
				}
			}
		})
	}
}
