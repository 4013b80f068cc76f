package activities

import (
	"context"
	"fmt"
)

// Turn is one thing a human says to the agent. Its ID is the intent of all that follows from it.
type Turn struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
	// Script is what the model will propose; it stands in for the understanding of a real one.
	Script []ToolCall `json:"script,omitempty"`
	// AskAgain is how often the model proposes the same calls again after it has seen their
	// results, as models do.
	AskAgain int `json:"ask_again,omitempty"`
}

// ToolCall is one call the model proposes. Exactly one field is set.
type ToolCall struct {
	Refund       *RefundInput `json:"refund,omitempty"`
	SendEmail    *EmailInput  `json:"send_email,omitempty"`
	CreateTicket *TicketInput `json:"create_ticket,omitempty"`
	LookupOrder  *LookupInput `json:"lookup_order,omitempty"`
}

// ToolResult is what the model is told about a call.
type ToolResult struct {
	Tool      string `json:"tool"`
	Reference string `json:"reference,omitempty"` // the receipt's ID, or what was looked up
	Error     string `json:"error,omitempty"`     // why it was not done
}

// PlanInput is the input of [Activities.PlanStep].
type PlanInput struct {
	Case    string       `json:"case,omitempty"`
	Turn    Turn         `json:"turn"`
	Round   int          `json:"round"` // 0 when the model is asked first about this turn
	Results []ToolResult `json:"results,omitempty"`
}

// Plan is the model's answer: calls to make, or none when the turn is done.
type Plan struct {
	Say   string     `json:"say"`
	Calls []ToolCall `json:"calls,omitempty"`
}

// phrases are the model's moods.
var phrases = [...]string{
	"%s",
	"As discussed with the customer: %s",
	"Per the customer's request: %s",
	"%s. Approved by support.",
	"Handled today: %s",
}

// PlanStep asks the model what to do next. The model is a script, but it has the habit that
// matters: it never uses the same words twice, neither for a retry nor after a reset.
func (a *Activities) PlanStep(_ context.Context, in PlanInput) (Plan, error) {
	a.started("PlanStep", in.Case)
	if in.Round > in.Turn.AskAgain || len(in.Turn.Script) == 0 {
		return Plan{Say: a.reword("All done")}, nil
	}
	calls := make([]ToolCall, len(in.Turn.Script))
	for i, scripted := range in.Turn.Script {
		calls[i] = a.rewordCall(scripted)
	}
	return Plan{Say: a.reword("On it"), Calls: calls}, nil
}

// rewordCall returns a copy of c with other free text.
func (a *Activities) rewordCall(c ToolCall) ToolCall {
	switch {
	case c.Refund != nil:
		in := *c.Refund
		in.Note = a.reword(in.Note)
		return ToolCall{Refund: &in}
	case c.SendEmail != nil:
		in := *c.SendEmail
		in.Body = a.reword(in.Body)
		return ToolCall{SendEmail: &in}
	case c.CreateTicket != nil:
		in := *c.CreateTicket
		in.Details = a.reword(in.Details)
		return ToolCall{CreateTicket: &in}
	}
	return c
}

// reword says text as it was not said before by this process.
func (a *Activities) reword(text string) string {
	n := a.asked.Add(1)
	return fmt.Sprintf(phrases[n%int64(len(phrases))], text) + fmt.Sprintf(" [wording %d]", n)
}
