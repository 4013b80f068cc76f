package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/activities"
)

// TicketDeskInput is the input of [TicketDesk]. It holds none of the model's free text: the input of
// a child workflow tells it from its siblings, so after a reset it has to be the same again.
type TicketDeskInput struct {
	Case     string      `json:"case"`
	Customer string      `json:"customer"`
	Topic    string      `json:"topic"`
	Calls    CallOptions `json:"calls"`
}

// TicketDesk opens one ticket. [SupportAgent] runs it as a child without a workflow ID of its own,
// so that every reset of the parent gives it another ID.
func TicketDesk(ctx workflow.Context, in TicketDeskInput) (activities.Receipt, error) {
	ctx = in.Calls.apply(ctx)
	var receipt activities.Receipt
	err := workflow.ExecuteActivity(ctx, tools.CreateTicket, activities.TicketInput{
		Customer: in.Customer,
		Topic:    in.Topic,
		Details:  "Opened by the ticket desk.",
		Case:     in.Case,
	}).Get(ctx, &receipt)
	return receipt, err
}
