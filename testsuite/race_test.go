package testsuite_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// A request is delivered twice, one after the other, to two workers of their own.
func TestDuplicateDelivery(t *testing.T) {
	t.Parallel()
	for name, fresh := range durable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := fresh(t)
			l := newLab(t, on(opened(t, url)))
			worker := func(s store.Store) setup {
				return setup{
					options: charging(interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}), store: s,
					workflows: map[string]any{"main": chargeFor("acme")}, activities: map[string]any{"Charge": l.Charge},
				}
			}
			stop := l.work(worker(l.store))
			first := l.start("main", order{ID: 1, Cents: 500})
			receipt := await[provider.Receipt](l, first)
			stop()
			l.work(worker(opened(t, url))) // another worker, which knows only the database
			second := l.start("main", order{ID: 1, Cents: 500})
			assert.Equal(t, receipt, await[provider.Receipt](l, second))
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1)
			require.Len(t, results(l.history(first)), 1)
			assert.Equal(t, results(l.history(first)), results(l.history(second)), "byte by byte")
		})
	}
}

const racers = 200

// racing are options for a pool that is far too small.
func racing() interceptor.Options {
	options := charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()})
	options.Lease, options.RecordTimeout = patience, patience
	return options
}

// barrier holds everybody back until n have come.
func barrier(n int) faulty.Action {
	var all sync.WaitGroup
	all.Add(n)
	return func(ctx context.Context) error {
		all.Done()
		all.Wait()
		return ctx.Err()
	}
}

// 200 activities of 8 workflows want the same thing at the same instant; the worker
// has four connections.
func TestRaceOfActivities(t *testing.T) { // not parallel: it needs the machine
	const workflows = 8
	l := newLab(t, on(opened(t, durable["PostgreSQL"](t))))
	together := faulty.Wrap(l.store, faulty.Before(faulty.Claim, barrier(racers)).Times(racers))
	l.work(setup{
		options: racing(), store: together,
		activities: map[string]any{"Charge": l.Charge}, worker: sdkworker.Options{MaxConcurrentActivityTaskPollers: 8, MaxConcurrentActivityExecutionSize: racers},
		workflows: map[string]any{"main": func(ctx workflow.Context, in order) (receipts []provider.Receipt, err error) {
			asked := make([]workflow.Future, racers/workflows)
			for i := range asked {
				asked[i] = workflow.ExecuteActivity(calling(ctx, patience, 1), "Charge", in)
			}
			receipts = make([]provider.Receipt, len(asked))
			for i, f := range asked {
				if err := f.Get(ctx, &receipts[i]); err != nil {
					return nil, err
				}
			}
			return receipts, nil
		}},
	})
	var answers [][]byte
	runs := make([]client.WorkflowRun, workflows)
	for i := range runs {
		runs[i] = l.start("main", order{ID: 1, Cents: 5})
	}
	for _, run := range runs {
		for _, receipt := range await[[]provider.Receipt](l, run) {
			assert.Equal(t, "charge-1", receipt.ID)
		}
		answers = append(answers, results(l.history(run))...)
	}
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.bodies(), 1)
	require.Len(t, answers, racers)
	for _, answer := range answers {
		assert.Equal(t, answers[0], answer)
	}
	assert.Equal(t, int64(1), l.record().Fence, "one claim")
}

// The same with 200 workers that share nothing but the database.
func TestRaceOfWorkers(t *testing.T) { // not parallel either
	for name, fresh := range durable {
		t.Run(name, func(t *testing.T) {
			s := opened(t, fresh(t))
			all := barrier(racers)
			var bodies sync.Map
			race := func(i int) string {
				options := racing()
				options.DataConverter, options.Worker = converter.GetDefaultDataConverter(), fmt.Sprint("worker-", i)
				ic, err := interceptor.New(s, options)
				if err != nil {
					return err.Error()
				}
				suite := new(sdktest.WorkflowTestSuite)
				suite.SetLogger(quiet)
				env := suite.NewTestActivityEnvironment()
				env.SetTestTimeout(patience)
				env.SetWorkerOptions(sdkworker.Options{Interceptors: []sdkinterceptor.WorkerInterceptor{ic}})
				env.RegisterActivityWithOptions(func(ctx context.Context, in order) (string, error) {
					bodies.Store(i, true)
					return fmt.Sprintf("charged by %d", i), nil
				}, activity.RegisterOptions{Name: "Charge"})
				if err := all(t.Context()); err != nil {
					return err.Error()
				}
				answer, err := env.ExecuteActivity("Charge", order{ID: 1, Cents: 5})
				if err != nil {
					return err.Error()
				}
				var text string
				if err := answer.Get(&text); err != nil {
					return err.Error()
				}
				return text
			}
			answers := collect(racers, race)
			ran := 0
			bodies.Range(func(i, _ any) bool {
				ran++
				for _, answer := range answers {
					assert.Equal(t, fmt.Sprintf("charged by %d", i), answer)
				}
				return true
			})
			assert.Equal(t, 1, ran)
		})
	}
}

// collect runs n functions at once.
func collect[T any](n int, f func(int) T) []T {
	found := make([]T, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { found[i] = f(i) })
	}
	all.Wait()
	return found
}
