// Package interceptor gives the activities of a Temporal worker exactly-once effect.
//
//	plugin, err := interceptor.NewPlugin(s, interceptor.Options{
//		Policies: map[string]interceptor.Policy{
//			"Refund": {Scope: effectonce.Tenant, Unknown: interceptor.Hold()},
//		},
//	})
//	c, err := client.Dial(client.Options{Plugins: []client.Plugin{plugin}})
//	w := worker.New(c, "agent", worker.Options{}) // the plugin comes with the client
//
// Before the body of an activity with a [Policy] runs, its action is claimed in the
// store; what became of it is recorded; every retry, crash, reset and duplicate
// request is answered from the record. Activities without a policy pass through.
//
// # Promises
//
// While the store keeps what it has committed and no attempt outlives its deadline
// by more than [Options.Settle], the effect of an action happens at most once, and
// nobody is told it happened, or did not, unless that is known. What nobody knows
// is held, asked for or run again, as the policy says; of rows that are written with
// [Transactional], everything is known. Replays are the recorded
// bytes. The workflow side adds headers and nothing else: histories recorded with
// and without it replay with and without it.
//
// Not covered: effects in workflow code, signals, child starts and Nexus handlers.
//
// # Errors
//
// An activity that is stopped fails with one of the error types of package
// effectonce. [New] and [NewPlugin] report every fault of their options at once.
//
// # Concurrency
//
// An [Interceptor] and a [Plugin] are safe for concurrent use by all activities of
// a worker. Leases use the store's clock; the worker's clock is used for durations
// only. Register either on the client or on the worker; if it is on both, the inner
// one does nothing.
package interceptor
