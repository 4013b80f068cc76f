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
}

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
