// Package workflows holds the sample workflows: a support agent whose tools have effects, and small
// ones with a single point.
//
//	workflows.Register(w)
//	w.RegisterActivity(&activities.Activities{Provider: provider.NewClient(url)})
//	…
//	run, err := c.ExecuteWorkflow(ctx, options, workflows.SupportAgent, workflows.SupportInput{
//		Case:  "case-7",
//		Turns: []activities.Turn{{ID: "turn-1", Script: []activities.ToolCall{{Refund: &activities.RefundInput{OrderID: 1, AmountCents: 500}}}}},
//	})
//
// All that a workflow says to effectonce is on whose behalf it acts and what for:
// [effectonce.WithTenant] and [effectonce.WithIntent]. Without the interceptor they do nothing.
//
// # Errors
//
// A workflow fails with the error of the activity that failed for good; [SupportAgent] goes on after
// an [activities.ErrTypeDeclined].
package workflows

// registry is the part of a worker, or of a test environment, that [Register] needs.
type registry interface {
	RegisterWorkflow(w any)
}

// Register registers all workflows of this package.
func Register(r registry) {
	r.RegisterWorkflow(SupportAgent)
	r.RegisterWorkflow(TicketDesk)
	r.RegisterWorkflow(Reminders)
	r.RegisterWorkflow(SingleRefund)
}
