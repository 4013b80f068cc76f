package testsuite_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store/postgres"
)

// BenchmarkThroughput runs the same workflows, of five small activities each, on a real
// server, without effectonce and with it on PostgreSQL. Each iteration is one such pair,
// in alternating order; the metrics are the median ratio of the throughputs, and its
// quartiles. Run it with -benchtime 10x or more.
func BenchmarkThroughput(b *testing.B) {
	address, namespace := services.Temporal(b)
	pool, err := pgxpool.New(b.Context(), services.Postgres(b))
	require.NoError(b, err)
	defer pool.Close()
	require.NoError(b, postgres.Migrate(b.Context(), pool, postgres.Options{}))
	records, err := postgres.New(pool, postgres.Options{})
	require.NoError(b, err)
	defer records.Close()
	plugin, err := interceptor.NewPlugin(records, interceptor.Options{
		Policies: map[string]interceptor.Policy{"small": {Scope: effectonce.Call, Unknown: interceptor.Hold()}},
	})
	require.NoError(b, err)

	small := func(_ context.Context, n int) (int, error) { return n + 1, nil }
	five := func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		n := 0
		for range 5 {
			if err := workflow.ExecuteActivity(ctx, "small", n).Get(ctx, &n); err != nil {
				return err
			}
		}
		return nil
	}
	start := func(queue string, plugins ...client.Plugin) client.Client {
		c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: quiet, Plugins: plugins})
		require.NoError(b, err)
		w := sdkworker.New(c, queue, sdkworker.Options{})
		register(w, map[string]any{"small": small})
		w.RegisterWorkflowWithOptions(five, workflow.RegisterOptions{Name: "five"})
		require.NoError(b, w.Start())
		b.Cleanup(func() { w.Stop(); c.Close() })
		return c
	}
	without, with := start("without"), start("with", plugin)

	const workflows = 40
	burst := func(c client.Client, queue string, round int) time.Duration {
		began := time.Now()
		runs := make([]client.WorkflowRun, workflows)
		for i := range runs {
			run, err := c.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{ID: fmt.Sprintf("%s-%d-%d", queue, round, i), TaskQueue: queue}, "five")
			require.NoError(b, err)
			runs[i] = run
		}
		for _, run := range runs {
			require.NoError(b, run.Get(b.Context(), nil))
		}
		return time.Since(began)
	}
	burst(without, "without", -1)
	burst(with, "with", -1)
	var ratios []float64
	round := 0
	for b.Loop() {
		var bare, ours time.Duration
		if round%2 == 0 {
			bare, ours = burst(without, "without", round), burst(with, "with", round)
		} else {
			ours, bare = burst(with, "with", round), burst(without, "without", round)
		}
		ratios = append(ratios, bare.Seconds()/ours.Seconds())
		round++
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "with/without")
	b.ReportMetric(ratios[len(ratios)/4], "quartile1")
	b.ReportMetric(ratios[len(ratios)*3/4], "quartile3")
}
