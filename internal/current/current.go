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
	// Sub runs parts of the body as actions of their own.
	Sub SubFunc
	// Handle returns what an outside system needs to report on the action.
	Handle func() string
}

// SubFunc claims the action of a sub-effect, runs fn unless it was done before, and
// puts the recorded result into the pointer into.
type SubFunc func(ctx context.Context, operation string, input any, fn func(context.Context) (any, error), into any) error

type contextKey struct{}

// With returns a context that carries a.
func With(ctx context.Context, a Action) context.Context {
	return context.WithValue(ctx, contextKey{}, a)
}

// From returns the action that ctx carries, if any.
func From(ctx context.Context) (Action, bool) {
	a, ok := ctx.Value(contextKey{}).(Action)
	return a, ok
}
