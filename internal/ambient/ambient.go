// Package ambient carries what a workflow says about the calls it makes: tenant,
// agent, intent, action ID. The values travel with a workflow.Context.
package ambient

import "go.temporal.io/sdk/workflow"

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
