// Package otel shows the decisions of effectonce on OpenTelemetry spans.
//
//	interceptor.Options{OnDecision: otel.OnDecision}
//
// Each decision becomes an event of the span that the activity's context carries, such
// as that of the SDK's contrib/opentelemetry; the last one also its attributes. Without
// a recording span nothing happens. It returns no errors, and is safe for concurrent use.
package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/effectonce/effectonce/interceptor"
)

// OnDecision is for interceptor.Options.OnDecision.
func OnDecision(ctx context.Context, d interceptor.Decision) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attributes := []attribute.KeyValue{
		attribute.String("effectonce.key", d.Key.String()),
		attribute.String("effectonce.operation", d.Operation),
		attribute.String("effectonce.decision", d.Kind),
		attribute.Bool("effectonce.repeat", d.Repeat),
		attribute.Bool("effectonce.shadow", d.Shadow),
		attribute.Int("effectonce.generation", d.Generation),
		attribute.Int64("effectonce.fence", d.Fence),
	}
	span.SetAttributes(attributes...)
	span.AddEvent("effectonce.decision", trace.WithAttributes(attributes...))
}
