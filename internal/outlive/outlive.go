// Package outlive makes contexts for work that must not end with its caller.
package outlive

import (
	"context"
	"sync"
	"time"
)

// Callers makes contexts that are done after a timeout, or up to a 32nd of that later,
// whatever becomes of their callers. All that begin within that time share one timer:
// one for each would be a good part of what a quick call to a store costs.
//
// It is safe for concurrent use, but not in two bubbles of testing/synctest, whose clocks
// begin at the same moment.
type Callers struct {
	timeout time.Duration
	mu      sync.Mutex
	until   time.Time // of shared
	shared  context.Context
}

// New returns one with a timeout.
func New(timeout time.Duration) *Callers { return &Callers{timeout: timeout} }

// Of returns a context with the values of ctx.
func (c *Callers) Of(ctx context.Context) context.Context {
	return &outlived{c.Context(), ctx}
}

// Context returns a context without values.
func (c *Callers) Context() context.Context {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	// More than that is left only where the clock is another one, as in another bubble of
	// testing/synctest.
	if left := c.until.Sub(now); left < c.timeout || left > c.timeout+c.timeout/32 {
		c.until = now.Add(c.timeout + c.timeout/32)
		ctx, cancel := context.WithDeadline(context.Background(), c.until)
		context.AfterFunc(ctx, cancel) // nobody ends it before its time
		c.shared = ctx
	}
	return c.shared
}

// outlived is done with one context, and has the values of another. The first one has no
// values, but what package context looks for in order to watch it without a goroutine.
type outlived struct {
	context.Context
	values context.Context
}

func (o *outlived) Value(k any) any {
	if v := o.Context.Value(k); v != nil {
		return v
	}
	return o.values.Value(k)
}
