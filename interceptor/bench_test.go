package interceptor_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store/memory"
)

// BenchmarkActivity is one small activity in Temporal's test environment: what it costs
// without the interceptor, with one that has no policy for it, when it runs, and when
// it is answered from the record. Compare rows of one run.
func BenchmarkActivity(b *testing.B) {
	policies := func(name string) map[string]interceptor.Policy {
		return map[string]interceptor.Policy{name: {Scope: effectonce.Namespace, Unknown: interceptor.Hold()}}
	}
	b.Run("without", func(b *testing.B) { benchmarkActivity(b, nil, true) })
	b.Run("passed-through", func(b *testing.B) { benchmarkActivity(b, policies("Other"), true) })
	b.Run("run", func(b *testing.B) { benchmarkActivity(b, policies("Charge"), true) })
	b.Run("replayed", func(b *testing.B) { benchmarkActivity(b, policies("Charge"), false) })
}

func benchmarkActivity(b *testing.B, policies map[string]interceptor.Policy, fresh bool) {
	var suite sdktest.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	if policies != nil {
		ic, err := interceptor.New(memory.New(memory.Options{}), interceptor.Options{
			Policies: policies, DataConverter: converter.GetDefaultDataConverter(),
		})
		require.NoError(b, err)
		env.SetWorkerOptions(sdkworker.Options{Interceptors: []sdkinterceptor.WorkerInterceptor{ic}})
	}
	env.RegisterActivityWithOptions(func(_ context.Context, in chargeIn) (receipt, error) {
		return receipt{ID: "r", Cents: in.Cents}, nil
	}, activity.RegisterOptions{Name: "Charge"})
	b.ReportAllocs()
	in := chargeIn{Order: 1746030112345678901, Cents: 500, Note: "as promised"}
	for b.Loop() {
		if fresh {
			in.Order++
		}
		if _, err := env.ExecuteActivity("Charge", in); err != nil {
			b.Fatal(err)
		}
	}
}
