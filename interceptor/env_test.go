package interceptor_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// The activity of most tests: it charges a card and journals every run of its body.

type chargeIn struct {
	Order int64  `json:"order"`
	Cents int64  `json:"cents"`
	Note  string `json:"note" effectonce:"ignore"`
}

type receipt struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

// journal counts the runs of a body and remembers the keys they sent downstream.
type journal struct {
	mu   sync.Mutex
	keys []string
}

func (j *journal) add(key string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keys = append(j.keys, key)
	return len(j.keys)
}

func (j *journal) runs() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.keys)
}

// body is what Charge does; run counts from 1.
type body func(ctx context.Context, run int, in chargeIn) (receipt, error)

func succeed(_ context.Context, run int, in chargeIn) (receipt, error) {
	return receipt{ID: string(rune('a' + run - 1)), Cents: in.Cents}, nil
}

// world is one store with one interceptor over it, to be used by several workflows.
type world struct {
	t     *testing.T
	store store.Store
	ic    *interceptor.Interceptor
	journal
	body body
}

func newWorld(t *testing.T, p interceptor.Policy, b body, change ...func(*interceptor.Options)) *world {
	t.Helper()
	return newWorldOn(t, memory.New(memory.Options{}), p, b, change...)
}

func newWorldOn(t *testing.T, s store.Store, p interceptor.Policy, b body, change ...func(*interceptor.Options)) *world {
	t.Helper()
	o := interceptor.Options{
		Policies:      map[string]interceptor.Policy{"Charge": p},
		DataConverter: converter.GetDefaultDataConverter(),
	}
	for _, f := range change {
		f(&o)
	}
	ic, err := interceptor.New(s, o)
	require.NoError(t, err)
	return &world{t: t, store: s, ic: ic, body: b}
}

func (w *world) charge(ctx context.Context, in chargeIn) (receipt, error) {
	return w.body(ctx, w.add(effectonce.Current(ctx).Key()), in)
}

// run runs a workflow in a test environment of its own. IDs are the same in every
// environment, so that a second run is the same run once more: what a reset does.
func (w *world) run(wf any, change ...func(*sdktest.TestWorkflowEnvironment)) *sdktest.TestWorkflowEnvironment {
	var suite sdktest.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(24 * time.Hour) // of a fake clock, in most tests
	env.SetWorkerOptions(workerOptions(w.ic))
	env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
	env.RegisterWorkflowWithOptions(wf, workflow.RegisterOptions{Name: "workflow"})
	for _, f := range change {
		f(env)
	}
	env.ExecuteWorkflow("workflow")
	require.True(w.t, env.IsWorkflowCompleted())
	return env
}

// records returns everything in the store.
func (w *world) records() []store.Record {
	list, err := w.store.(store.Lister).List(context.Background(), store.Filter{})
	require.NoError(w.t, err)
	return list
}

// record returns the only record.
func (w *world) record() store.Record {
	w.t.Helper()
	list := w.records()
	require.Len(w.t, list, 1)
	return list[0]
}

// attempts returns a context for calls with at most n attempts, one second apart.
func attempts(ctx workflow.Context, n int32) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: n},
	})
}

// chargeOnce is a workflow with one call.
func chargeOnce(in chargeIn, n int32) func(workflow.Context) (receipt, error) {
	return func(ctx workflow.Context) (receipt, error) { return charge(attempts(ctx, n), in) }
}

func charge(ctx workflow.Context, in chargeIn) (receipt, error) {
	var out receipt
	err := workflow.ExecuteActivity(ctx, "Charge", in).Get(ctx, &out)
	return out, err
}

// failure returns the application error with which a workflow failed.
func failure(t *testing.T, env *sdktest.TestWorkflowEnvironment) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, env.GetWorkflowError(), &app)
	return app
}

func result(t *testing.T, env *sdktest.TestWorkflowEnvironment) receipt {
	t.Helper()
	require.NoError(t, env.GetWorkflowError())
	var out receipt
	require.NoError(t, env.GetWorkflowResult(&out))
	return out
}
