// Package ambient carries what a workflow says about the calls it makes, and a client
// about what it starts: tenant,
// agent, intent, action ID. The values travel with a context.
package ambient

import (
	"context"

	"go.temporal.io/sdk/workflow"
)

// Value is one of the things a workflow can say.
type Value string

// The values.
const (
	Tenant   Value = "tenant"
	Agent    Value = "agent"
	Intent   Value = "intent"
	ActionID Value = "action ID"
)

// With returns a context that carries v.
func With(ctx workflow.Context, v Value, text string) workflow.Context {
	return workflow.WithValue(ctx, v, text)
}

// From returns what ctx carries for v; empty if nothing.
func From(ctx workflow.Context, v Value) string {
	text, _ := ctx.Value(v).(string)
	return text
}

// WithStart returns a context for client calls that start something, with v.
func WithStart(ctx context.Context, v Value, text string) context.Context {
	return context.WithValue(ctx, v, text)
}

// OfStart returns what ctx carries for v; empty if nothing.
func OfStart(ctx context.Context, v Value) string {
	text, _ := ctx.Value(v).(string)
	return text
}
