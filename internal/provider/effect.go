package provider

import (
	"encoding/json"
	"time"
)

// Kind is the sort of an effect.
type Kind string

// The kinds of effects, each with its own endpoint.
const (
	KindRefund Kind = "refund" // POST /refunds
	KindCharge Kind = "charge" // POST /charges
	KindEmail  Kind = "email"  // POST /emails
	KindTicket Kind = "ticket" // POST /tickets
)

// endpoints maps the path of every effect to its kind.
var endpoints = map[string]Kind{
	"/refunds": KindRefund,
	"/charges": KindCharge,
	"/emails":  KindEmail,
	"/tickets": KindTicket,
}

// RefundRequest pays money back for an order.
type RefundRequest struct {
	OrderID     int64  `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Note        string `json:"note,omitempty"`
}

// ChargeRequest takes money for an order.
type ChargeRequest struct {
	OrderID     int64  `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Note        string `json:"note,omitempty"`
}

// EmailRequest sends one mail.
type EmailRequest struct {
	To       string `json:"to"`
	Template string `json:"template"`
	Body     string `json:"body,omitempty"`
}

// TicketRequest opens a ticket.
type TicketRequest struct {
	Customer string `json:"customer"`
	Topic    string `json:"topic"`
	Details  string `json:"details,omitempty"`
}

// Receipt is what the provider answers to an applied request.
type Receipt struct {
	// ID names the effect, such as "refund-17"; every effect has its own.
	ID string `json:"id"`
	// OrderID is the order of a refund or charge, otherwise 0.
	OrderID int64 `json:"order_id,omitempty"`
}

// Order is what the provider knows about an order. Every positive ID exists.
type Order struct {
	ID         int64  `json:"order_id"`
	TotalCents int64  `json:"total_cents"`
	Status     string `json:"status"`
}

// Effect is one entry of the journal.
type Effect struct {
	Sequence int64           `json:"sequence"` // 1, 2, 3 … in the order of the commits
	Time     time.Time       `json:"time"`
	Kind     Kind            `json:"kind"`
	Case     string          `json:"case"`
	Key      string          `json:"key"` // the Idempotency-Key, empty if there was none
	Body     json.RawMessage `json:"body"`
	Response json.RawMessage `json:"response"`
}
