package testsuite_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
)

func TestMain(m *testing.M) {
	if plan := os.Getenv(processEnv); plan != "" {
		processMain(plan) // this process is a worker that a test will kill
		return
	}
	flag.Parse()
	// The tests wait for a server's timers far more than they compute.
	if flag.Lookup("test.parallel").Value.String() == fmt.Sprint(flag.Lookup("test.parallel").DefValue) {
		_ = flag.Set("test.parallel", "8")
	}
	services.Main(m)
}

var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// patience bounds every wait. No test needs a tenth of it on a quiet machine.
const patience = 90 * time.Second

// lab is the world of one test: a namespace on a real Temporal server, a provider
// reached over HTTP, and a store.
type lab struct {
	*desk
	t           *testing.T
	address     string
	namespace   string
	queue       string
	providerURL string
	store       store.Store
	converter   converter.DataConverter // nil: the SDK's default
	failures    converter.FailureConverter
	external    converter.ExternalStorage
	client      client.Client // without the interceptor
	started     []client.WorkflowRun
}

// newLab makes a lab whose provider is deaf to keys, so that every request it
// gets is an effect. Tests whose names begin with TestServer132 get the newer server.
func newLab(t *testing.T, with ...func(*lab)) *lab {
	t.Helper()
	l := &lab{t: t, queue: "queue"}
	if strings.HasPrefix(t.Name(), "TestServer132") {
		l.address, l.namespace = services.Temporal132(t)
	} else {
		l.address, l.namespace = services.Temporal(t)
	}
	server, err := provider.NewServer(provider.Options{Journal: filepath.Join(t.TempDir(), "journal")})
	require.NoError(t, err)
	web := httptest.NewServer(server)
	t.Cleanup(func() { _ = server.Close(); web.Close() })
	l.providerURL = web.URL
	l.desk = newDesk(web.URL)
	l.behave(provider.Behaviour{IgnoreKeys: true})
	for _, o := range with {
		o(l)
	}
	if l.store == nil {
		l.store = opened(t, inFile(t))
	}
	l.client = l.dial(client.Options{})
	return l
}

func on(s store.Store) func(*lab)                    { return func(l *lab) { l.store = s } }
func encoding(dc converter.DataConverter) func(*lab) { return func(l *lab) { l.converter = dc } }

func (l *lab) dial(o client.Options) client.Client {
	l.t.Helper()
	o.HostPort, o.Namespace, o.Logger = l.address, l.namespace, quiet
	o.DataConverter, o.FailureConverter, o.ExternalStorage = l.converter, l.failures, l.external
	c, err := client.Dial(o)
	require.NoError(l.t, err)
	l.t.Cleanup(c.Close)
	return c
}

// setup is one worker.
type setup struct {
	options    interceptor.Options // without Policies the interceptor is not registered
	store      store.Store         // default: the lab's
	worker     sdkworker.Options
	workflows  map[string]any
	activities map[string]any
	more       func(sdkworker.Worker) // what maps cannot register
}

var (
	workflowsOnly  = sdkworker.Options{LocalActivityWorkerOnly: true}
	activitiesOnly = sdkworker.Options{DisableWorkflowWorker: true}
)

// settled are options with times that a test can wait for.
func settled(policies map[string]interceptor.Policy) interceptor.Options {
	return interceptor.Options{Policies: policies, Lease: time.Second, Settle: 10 * time.Millisecond, RecordTimeout: 2 * time.Second}
}

// charging are options with a policy for the activity Charge.
func charging(p interceptor.Policy) interceptor.Options {
	if p.HeldRetry == 0 {
		p.HeldRetry = time.Second
	}
	return settled(map[string]interceptor.Policy{"Charge": p})
}

// work starts a worker. The returned function stops it early.
func (l *lab) work(s setup) (stop func()) {
	l.t.Helper()
	c := l.client
	if s.options.Policies != nil {
		if s.store == nil {
			s.store = l.store
		}
		plugin, err := interceptor.NewPlugin(s.store, s.options)
		require.NoError(l.t, err)
		c = l.dial(client.Options{Plugins: []client.Plugin{plugin}})
	}
	s.worker.DeadlockDetectionTimeout = patience // the race detector on a busy machine is slow
	w := sdkworker.New(c, l.queue, s.worker)
	for name, f := range s.workflows {
		w.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
	}
	register(w, s.activities)
	if s.more != nil {
		s.more(w)
	}
	require.NoError(l.t, w.Start())
	var stopped atomic.Bool
	stop = func() {
		if !stopped.Swap(true) {
			w.Stop()
		}
	}
	l.t.Cleanup(stop)
	return stop
}

// start starts a workflow with an ID of its own.
func (l *lab) start(name string, args ...any) client.WorkflowRun {
	l.t.Helper()
	return l.startAs(fmt.Sprintf("%s-%d", name, len(l.started)+1), name, args...)
}

func (l *lab) startAs(id, name string, args ...any) client.WorkflowRun {
	l.t.Helper()
	run, err := l.client.ExecuteWorkflow(l.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: l.queue}, name, args...)
	require.NoError(l.t, err)
	l.started = append(l.started, run)
	return run
}

// await returns what the workflow returned.
func await[T any](l *lab, run client.WorkflowRun) T {
	l.t.Helper()
	var v T
	require.NoError(l.t, l.ended(run, &v))
	return v
}

// ended waits for the end of the workflow and returns its error.
func (l *lab) ended(run client.WorkflowRun, into any) error {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	err := run.GetWithOptions(ctx, into, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	require.NoError(l.t, ctx.Err(), "the workflow did not end")
	return err
}

// until polls for something that is about to happen.
func (l *lab) until(what string, happened func() bool) {
	l.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !happened(); <-tick.C {
		if time.Now().After(end) {
			for _, run := range l.started {
				events := l.history(run)
				l.t.Log(run.GetID(), len(events), "events, the last:", events[len(events)-1], "failing:", l.lastFailure(run))
			}
			l.t.Fatalf("never happened: %s", what)
		}
	}
}

func (l *lab) behave(b provider.Behaviour) {
	l.t.Helper()
	require.NoError(l.t, l.provider.SetFaults(l.t.Context(), b))
}

// effects is what the provider's journal says.
func (l *lab) effects() []provider.Effect {
	l.t.Helper()
	found, err := l.provider.Effects(l.t.Context(), provider.Filter{})
	require.NoError(l.t, err)
	return found
}

// keysOf are the keys under which effects happened, in their order.
func keysOf(effects []provider.Effect) []string {
	keys := make([]string, len(effects))
	for i, e := range effects {
		keys[i] = e.Key
	}
	return keys
}

// records are all records of the store.
func (l *lab) records() []store.Record {
	l.t.Helper()
	found, err := l.store.(store.Lister).List(l.t.Context(), store.Filter{Limit: store.MaxLimit})
	require.NoError(l.t, err)
	return found
}

// record is the store's only record.
func (l *lab) record() store.Record {
	l.t.Helper()
	found := l.records()
	require.Len(l.t, found, 1)
	return found[0]
}

// application returns the ApplicationError in err.
func application(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}
