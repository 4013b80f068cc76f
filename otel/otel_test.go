package otel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/otel"
	"github.com/effectonce/effectonce/store/memory"
)

// tracing is an outer interceptor that puts a span around every activity.
type tracing struct {
	sdkinterceptor.InterceptorBase
	provider *sdktrace.TracerProvider
}

type traced struct {
	sdkinterceptor.ActivityInboundInterceptorBase
	provider *sdktrace.TracerProvider
}

func (t *tracing) InterceptActivity(_ context.Context, next sdkinterceptor.ActivityInboundInterceptor) sdkinterceptor.ActivityInboundInterceptor {
	a := &traced{provider: t.provider}
	a.Next = next
	return a
}

func (t *traced) ExecuteActivity(ctx context.Context, in *sdkinterceptor.ExecuteActivityInput) (any, error) {
	ctx, span := t.provider.Tracer("test").Start(ctx, "activity")
	defer span.End()
	return t.Next.ExecuteActivity(ctx, in)
}

func TestDecisionsAreOnTheSpanOfTheActivity(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ic, err := interceptor.New(memory.New(memory.Options{}), interceptor.Options{
		Policies:      map[string]interceptor.Policy{"Pay": {Scope: effectonce.Namespace, Unknown: interceptor.Hold()}},
		DataConverter: converter.GetDefaultDataConverter(), OnDecision: otel.OnDecision,
	})
	require.NoError(t, err)
	for range 2 {
		var suite sdktest.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []sdkinterceptor.WorkerInterceptor{&tracing{provider: provider}, ic}})
		env.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: "Pay"})
		_, err := env.ExecuteActivity("Pay")
		require.NoError(t, err)
	}
	spans := recorder.Ended()
	require.Len(t, spans, 2)
	for i, want := range []string{"run", "replay"} {
		require.Contains(t, spans[i].Attributes(), attribute.String("effectonce.decision", want))
		require.Len(t, spans[i].Events(), 1)
	}
	otel.OnDecision(context.Background(), interceptor.Decision{}) // no span: nothing happens
}
