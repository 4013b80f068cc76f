package interceptor_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

type shop struct{}

type orderIn struct {
	Order  int64   `json:"order"`
	Amount float64 `json:"amount"`
	Nonce  string  `json:"nonce"`
}

func (*shop) Pay(context.Context, orderIn) error { return nil }
func (*shop) Look(context.Context) error         { return nil }

func plainActivity(string) error { return nil }
func otherActivity(string) error { return nil }

// warnings collects what is logged as a warning.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) Debug(string, ...any) {}
func (w *warnings) Info(string, ...any)  {}
func (w *warnings) Error(string, ...any) {}
func (w *warnings) Warn(text string, _ ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

var _ sdklog.Logger = (*warnings)(nil)

// worker makes a worker with the plugin's options and registers activities on it.
// Its server cannot be reached: only what happens before is looked at.
func startWorker(t *testing.T, o interceptor.Options, more ...func(sdkworker.Worker)) (*interceptor.Plugin, *warnings, error) {
	t.Helper()
	p, err := interceptor.NewPlugin(memory.New(memory.Options{}), o)
	require.NoError(t, err)
	log := &warnings{}
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Plugins: []client.Plugin{p}, Logger: log})
	require.NoError(t, err)
	w := sdkworker.New(c, "q", sdkworker.Options{})
	w.RegisterActivity(&shop{})
	w.RegisterActivity(plainActivity)
	w.RegisterActivityWithOptions(otherActivity, activity.RegisterOptions{Name: "alias"})
	for _, f := range more {
		f(w)
	}
	return p, log, w.Start()
}

func TestPlugin_ShowsRegisteredActivitiesThatNobodyClassified(t *testing.T) {
	t.Parallel()
	p, log, _ := startWorker(t, interceptor.Options{
		Policies: map[string]interceptor.Policy{"Pay": {Scope: effectonce.Run, Unknown: interceptor.Hold()}, "Gone": {Scope: effectonce.Run, Unknown: interceptor.Hold()}},
		ReadOnly: []string{"Look"},
	})
	require.Equal(t, []string{"alias", "plainActivity"}, p.Unprotected())
	all := ""
	for _, text := range log.texts {
		all += text + "\n"
	}
	require.Contains(t, all, "activities without a policy")
	require.Contains(t, all, `policy for "Gone"`)
	require.Contains(t, all, ".Amount float", "a float is pointed at")
	require.Contains(t, all, ".Nonce volatile", "so is a field that looks volatile")
}

func TestPlugin_RefusesToStartWithAPathThatCannotExist(t *testing.T) {
	t.Parallel()
	_, _, err := startWorker(t, interceptor.Options{Policies: map[string]interceptor.Policy{
		"Pay":   {Scope: effectonce.Run, Unknown: interceptor.Hold(), Ignore: []string{"/0/nota"}},
		"alias": {Scope: effectonce.Run, Unknown: interceptor.Hold(), Check: []string{"/3"}},
	}})
	require.ErrorContains(t, err, `policy of "Pay": Ignore: `)
	require.ErrorContains(t, err, "at /0/nota; the Go type has ")
	require.ErrorContains(t, err, `policy of "alias": Check: `)
	require.ErrorContains(t, err, "at /3")
}

func TestUnlisted(t *testing.T) {
	t.Parallel()
	other := map[string]interceptor.Policy{"Other": {Scope: effectonce.Run, Unknown: interceptor.Hold()}}
	unlisted := func(u interceptor.Unlisted) func(*interceptor.Options) {
		return func(o *interceptor.Options) { o.Policies, o.Unlisted = other, u }
	}
	twice := func(ctx workflow.Context) (receipt, error) {
		if _, err := charge(attempts(ctx, 2), order7); err != nil {
			return receipt{}, err
		}
		return charge(attempts(ctx, 2), order7)
	}
	t.Run("passes through, and warns once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{}, succeed, unlisted(""))
		log := &warnings{}
		var suite sdktest.WorkflowTestSuite
		suite.SetLogger(log)
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(workerOptions(w.ic))
		env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
		for range 3 {
			_, err := env.ExecuteActivity("Charge", order7)
			require.NoError(t, err)
		}
		require.Equal(t, 3, w.runs())
		require.Len(t, log.texts, 1)
		require.Empty(t, w.records())
		require.Equal(t, []string{"", "", ""}, w.keys, "no key is promised")
	})
	t.Run("guard answers a call that was completed, and no other", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{}, succeed, unlisted(interceptor.Guard))
		result(t, w.run(twice))
		result(t, w.run(twice))
		require.Equal(t, 2, w.runs())
	})
	t.Run("refuse runs nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{}, succeed, unlisted(interceptor.Refuse))
		app := failure(t, w.run(twice))
		require.Equal(t, effectonce.ErrTypeScope, app.Type())
		require.False(t, app.NonRetryable())
		require.Zero(t, w.runs())
	})
	t.Run("read-only passes through silently", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{}, succeed, unlisted(interceptor.Refuse), func(o *interceptor.Options) { o.ReadOnly = []string{"Charge"} })
		result(t, w.run(twice))
		require.Equal(t, 2, w.runs())
	})
}

func TestOnDecision_SeesEveryDecisionAndTellsRepeats(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []interceptor.Decision
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed, func(o *interceptor.Options) {
		o.OnDecision = func(_ context.Context, d interceptor.Decision) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, d)
		}
	})
	result(t, w.run(func(ctx workflow.Context) (receipt, error) {
		if _, err := charge(attempts(ctx, 1), order7); err != nil {
			return receipt{}, err
		}
		return charge(attempts(ctx, 1), order7)
	}))
	require.Len(t, seen, 2)
	require.Equal(t, "run", seen[0].Kind)
	require.False(t, seen[0].Repeat)
	require.Equal(t, "replay", seen[1].Kind)
	require.True(t, seen[1].Repeat, "the model asked again")
	require.Equal(t, store.Completed, seen[1].State)
	require.Equal(t, w.record().Key, seen[1].Key)
	require.Equal(t, "Charge", seen[1].Operation)
	require.Equal(t, 1, seen[1].Generation)
}

// The SDK runs a function that is registered under two names as the last one, whichever
// is called: another policy would hold for it than its name says.
func TestPlugin_RefusesAFunctionUnderTwoNames(t *testing.T) {
	t.Parallel()
	again := func(w sdkworker.Worker) {
		w.RegisterActivityWithOptions((&shop{}).Pay, activity.RegisterOptions{Name: "Report"})
	}
	policy := interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}
	_, _, err := startWorker(t, interceptor.Options{Policies: map[string]interceptor.Policy{"Pay": policy}}, again)
	require.ErrorContains(t, err, `the function Pay is registered as Pay and Report`)
	_, _, err = startWorker(t, interceptor.Options{Policies: map[string]interceptor.Policy{"Other": policy}}, again)
	require.NotContains(t, err.Error(), "is registered as", "without a policy it is the SDK's affair")
}
