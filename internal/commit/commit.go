// Package commit carries to the CommitTx of a store what it needs of the running action.
package commit

import (
	"context"

	"github.com/effectonce/effectonce/store"
)

// Func makes result the outcome of the running action. write is called at most once:
// it writes the change of the claim inside the body's transaction, and commits that.
// An error of write is returned.
type Func func(ctx context.Context, result any, write func(store.Claim, store.Change) error) error

type contextKey struct{}

// With returns a context whose action is committed by f.
func With(ctx context.Context, f Func) context.Context {
	return context.WithValue(ctx, contextKey{}, f)
}

// From returns what commits the action of ctx, if there is one.
func From(ctx context.Context) (Func, bool) {
	f, ok := ctx.Value(contextKey{}).(Func)
	return f, ok
}
