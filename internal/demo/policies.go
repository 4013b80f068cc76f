package demo

import (
	"time"

	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// Short times, so that a row takes seconds. In production they are longer: a lease should outlast a
// stopped garbage collector, Settle the longest delay of a request in the network.
const (
	lease     = 2 * time.Second
	settle    = time.Second
	heldRetry = time.Second
)

// AskFunc makes the function that asks a provider what became of an action.
type AskFunc func(*provider.Client) interceptor.ReconcileFunc

// tools are the activities with effects. The others (a model's step, a lookup) need no policy.
var tools = []string{"Refund", "SendEmail", "SendReminder", "CreateTicket"}

// policies returns the policies of the row's tools. All tools of a row have the same one.
func (r row) policies(p *provider.Client, ask AskFunc) map[string]interceptor.Policy {
	policy := interceptor.Policy{Scope: r.scope, HeldRetry: heldRetry}
	switch r.unknown {
	case rerun:
		policy.Unknown = interceptor.Rerun()
	case reconcile:
		policy.Unknown = interceptor.Reconcile(ask(p))
	case hold:
		policy.Unknown = interceptor.Hold()
	}
	table := make(map[string]interceptor.Policy, len(tools))
	for _, tool := range tools {
		table[tool] = policy
	}
	return table
}

// plugin returns effectonce for one row. Rows have policies of their own for the same activities, so
// each has a worker of its own, on its own task queue.
func (r row) plugin(s store.Store, p *provider.Client, ask AskFunc) (*interceptor.Plugin, error) {
	return interceptor.NewPlugin(s, interceptor.Options{Policies: r.policies(p, ask), Lease: lease, Settle: settle})
}
