package activities

import (
	"context"

	"github.com/effectonce/effectonce/internal/provider"
)

// The inputs mark what does not count: two calls that differ only in fields with the tag
// `effectonce:"ignore"` are the same action.

// RefundInput is the input of [Activities.Refund].
type RefundInput struct {
	OrderID     int64  `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Note        string `json:"note,omitempty" effectonce:"ignore"` // the model's words
	Case        string `json:"case,omitempty" effectonce:"ignore"` // the support case, for the provider's files
}

// EmailInput is the input of [Activities.SendEmail].
type EmailInput struct {
	To       string `json:"to"`
	Template string `json:"template"`
	Body     string `json:"body,omitempty" effectonce:"ignore"`
	Case     string `json:"case,omitempty" effectonce:"ignore"`
}

// ReminderInput is the input of [Activities.SendReminder].
type ReminderInput struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Case    string `json:"case,omitempty" effectonce:"ignore"`
}

// TicketInput is the input of [Activities.CreateTicket].
type TicketInput struct {
	Customer string `json:"customer"`
	Topic    string `json:"topic"`
	Details  string `json:"details,omitempty" effectonce:"ignore"`
	Case     string `json:"case,omitempty" effectonce:"ignore"`
}

// LookupInput is the input of [Activities.LookupOrder].
type LookupInput struct {
	OrderID int64  `json:"order_id"`
	Case    string `json:"case,omitempty" effectonce:"ignore"`
}

// Order is what the provider knows about an order.
type Order = provider.Order

// Refund pays money back to a customer.
func (a *Activities) Refund(ctx context.Context, in RefundInput) (Receipt, error) {
	return a.effect(ctx, "Refund", in.Case, func(call provider.Call) (Receipt, error) {
		return a.Provider.Refund(ctx, call, provider.RefundRequest{OrderID: in.OrderID, AmountCents: in.AmountCents, Note: in.Note})
	})
}

// SendEmail sends a mail to a customer.
func (a *Activities) SendEmail(ctx context.Context, in EmailInput) (Receipt, error) {
	return a.effect(ctx, "SendEmail", in.Case, func(call provider.Call) (Receipt, error) {
		return a.Provider.SendEmail(ctx, call, provider.EmailRequest{To: in.To, Template: in.Template, Body: in.Body})
	})
}

// SendReminder sends a reminder. Sending the same one three times is meant: its policy has scope
// Call.
func (a *Activities) SendReminder(ctx context.Context, in ReminderInput) (Receipt, error) {
	return a.effect(ctx, "SendReminder", in.Case, func(call provider.Call) (Receipt, error) {
		return a.Provider.SendEmail(ctx, call, provider.EmailRequest{To: in.To, Template: "reminder", Body: in.Subject})
	})
}

// CreateTicket opens a ticket for a human.
func (a *Activities) CreateTicket(ctx context.Context, in TicketInput) (Receipt, error) {
	return a.effect(ctx, "CreateTicket", in.Case, func(call provider.Call) (Receipt, error) {
		return a.Provider.CreateTicket(ctx, call, provider.TicketRequest{Customer: in.Customer, Topic: in.Topic, Details: in.Details})
	})
}

// LookupOrder reads an order. It changes nothing and needs no policy.
func (a *Activities) LookupOrder(ctx context.Context, in LookupInput) (Order, error) {
	a.started("LookupOrder", in.Case)
	order, err := a.Provider.LookupOrder(ctx, in.OrderID)
	if err != nil {
		return Order{}, outcome(ctx, err)
	}
	return order, nil
}
