// Package current carries the running action in the context of an activity body.
package current

import (
	"context"

	"github.com/effectonce/effectonce/key"
)

// Action is what a body may know about the action it runs.
type Action struct {
	Key        key.Key
	Generation int
	Fence      int64
	// Attempt is what the body runs in; nil where there is no body, as for whoever
	// is asked what became of the action.
	Attempt Attempt
}

// Attempt is what a body may ask for.
type Attempt interface {
	// Sub claims the action of a sub-effect, runs fn unless it was done before, and
	// puts the recorded result into the pointer into.
	Sub(ctx context.Context, operation string, input any, fn func(context.Context) (any, error), into any) error
	// Handle returns what an outside system needs to report on the action.
	Handle() string
}

// Carrier is a context with an action. It can be part of something larger, where
// context.WithValue needs two allocations of its own.
type Carrier struct {
	context.Context
	Action Action
}

type contextKey struct{}

// Value returns the carrier itself for contextKey.
func (c *Carrier) Value(k any) any {
	if _, ours := k.(contextKey); ours {
		return c
	}
	return c.Context.Value(k)
}

// With returns a context that carries a.
func With(ctx context.Context, a Action) context.Context { return &Carrier{ctx, a} }

// From returns the action that ctx carries, if any.
func From(ctx context.Context) (Action, bool) {
	c, ok := ctx.Value(contextKey{}).(*Carrier)
	if !ok {
		return Action{}, false
	}
	return c.Action, true
}
