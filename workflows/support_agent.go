package workflows

import (
	"errors"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/activities"
)

const (
	// QueryTranscript is the query for what a [SupportAgent] has done so far: a [Transcript].
	QueryTranscript = "transcript"
	// SignalTurn is the signal with a further [activities.Turn] of the human.
	SignalTurn = "turn"
)

// SupportInput is the input of [SupportAgent].
type SupportInput struct {
	// Case is the support case. The provider files everything under it.
	Case string `json:"case"`
	// Tenant is the customer on whose behalf the agent acts; needed where a policy has scope Tenant.
	Tenant string `json:"tenant,omitempty"`
	// Turns are what the human has said before the agent starts.
	Turns []activities.Turn `json:"turns"`
	// Idle is how long the agent waits for another turn by signal. 0: it takes the turns that
	// have arrived, and ends.
	Idle time.Duration `json:"idle,omitempty"`
	// TicketDesk opens tickets in a child workflow, [TicketDesk]. Two equal children of one run
	// are two wishes, so a model that asks again (scope Run) opens a second ticket this way.
	TicketDesk bool `json:"ticket_desk,omitempty"`
	// Calls say how tools are called.
	Calls CallOptions `json:"calls"`
}

// Transcript is what an agent has done, in order.
type Transcript []Entry

// Entry is one tool call of a transcript.
type Entry struct {
	TurnID string                `json:"turn_id"`
	Round  int                   `json:"round"`
	Call   activities.ToolCall   `json:"call"`
	Result activities.ToolResult `json:"result"`
}

// SupportAgent serves one support case: for every turn of the human it asks the model, makes the
// calls that the model proposes, tells it the results and asks again, until the model is done.
//
// The turn is the intent: when the model asks for the same thing twice within a turn it is one
// action (scope Run and wider), and the same wish in another turn is another one (scope Run).
//
// Only a definite no of the provider is told to the model. Any other error of a tool ends the
// workflow: it may hide an effect, and a model that hears "failed" tries another way.
func SupportAgent(ctx workflow.Context, in SupportInput) (Transcript, error) {
	a := agent{in: in, transcript: Transcript{}}
	if err := workflow.SetQueryHandler(ctx, QueryTranscript, func() (Transcript, error) { return a.transcript, nil }); err != nil {
		return nil, err
	}
	ctx = in.Calls.apply(ctx)
	if in.Tenant != "" {
		ctx = effectonce.WithTenant(ctx, in.Tenant)
	}
	for _, turn := range in.Turns {
		if err := a.serve(ctx, turn); err != nil {
			return nil, err
		}
	}
	for {
		turn, ok := nextTurn(ctx, in.Idle)
		if !ok {
			return a.transcript, ctx.Err()
		}
		if err := a.serve(ctx, turn); err != nil {
			return nil, err
		}
	}
}

// nextTurn returns the next turn that came by signal, waiting for it up to idle.
func nextTurn(ctx workflow.Context, idle time.Duration) (turn activities.Turn, ok bool) {
	signals := workflow.GetSignalChannel(ctx, SignalTurn)
	if signals.ReceiveAsync(&turn) {
		return turn, true
	}
	if idle <= 0 {
		return turn, false
	}
	ok, _ = signals.ReceiveWithTimeout(ctx, idle, &turn)
	return turn, ok
}

// agent is the state of one run.
type agent struct {
	in         SupportInput
	transcript Transcript
}

// tools names the activities; it is never called.
var tools *activities.Activities

// serve works on one turn until the model is done with it.
func (a *agent) serve(ctx workflow.Context, turn activities.Turn) error {
	ctx = effectonce.WithIntent(ctx, turn.ID)
	ask := activities.PlanInput{Case: a.in.Case, Turn: turn}
	for {
		var plan activities.Plan
		if err := workflow.ExecuteActivity(ctx, tools.PlanStep, ask).Get(ctx, &plan); err != nil {
			return err
		}
		if len(plan.Calls) == 0 {
			return nil
		}
		ask.Results = nil
		for _, call := range plan.Calls {
			result, err := a.call(ctx, call)
			if err != nil {
				return err
			}
			ask.Results = append(ask.Results, result)
			a.transcript = append(a.transcript, Entry{TurnID: turn.ID, Round: ask.Round, Call: call, Result: result})
		}
		ask.Round++
	}
}

// call makes one call and returns what the model is told.
func (a *agent) call(ctx workflow.Context, call activities.ToolCall) (activities.ToolResult, error) {
	tool, reference, err := a.execute(ctx, call)
	if reason, declined := declined(err); declined {
		return activities.ToolResult{Tool: tool, Error: reason}, nil
	}
	return activities.ToolResult{Tool: tool, Reference: reference}, err
}

// execute makes one call, under the case of this agent.
func (a *agent) execute(ctx workflow.Context, call activities.ToolCall) (tool, reference string, err error) {
	var receipt activities.Receipt
	switch {
	case call.Refund != nil:
		in := *call.Refund
		in.Case = a.in.Case
		err = workflow.ExecuteActivity(ctx, tools.Refund, in).Get(ctx, &receipt)
		return "Refund", receipt.ID, err
	case call.SendEmail != nil:
		in := *call.SendEmail
		in.Case = a.in.Case
		err = workflow.ExecuteActivity(ctx, tools.SendEmail, in).Get(ctx, &receipt)
		return "SendEmail", receipt.ID, err
	case call.CreateTicket != nil && a.in.TicketDesk:
		in := TicketDeskInput{Case: a.in.Case, Customer: call.CreateTicket.Customer, Topic: call.CreateTicket.Topic, Calls: a.in.Calls}
		err = workflow.ExecuteChildWorkflow(ctx, TicketDesk, in).Get(ctx, &receipt)
		return "TicketDesk", receipt.ID, err
	case call.CreateTicket != nil:
		in := *call.CreateTicket
		in.Case = a.in.Case
		err = workflow.ExecuteActivity(ctx, tools.CreateTicket, in).Get(ctx, &receipt)
		return "CreateTicket", receipt.ID, err
	case call.LookupOrder != nil:
		in := *call.LookupOrder
		in.Case = a.in.Case
		var order activities.Order
		err = workflow.ExecuteActivity(ctx, tools.LookupOrder, in).Get(ctx, &order)
		return "LookupOrder", "order " + strconv.FormatInt(order.ID, 10) + ": " + order.Status, err
	}
	return "", "", temporal.NewNonRetryableApplicationError("the model proposed a call without a tool", "EmptyToolCall", nil)
}

// declined says whether err is a definite no, and why.
func declined(err error) (reason string, ok bool) {
	var failure *temporal.ApplicationError
	if errors.As(err, &failure) && failure.Type() == activities.ErrTypeDeclined {
		return failure.Message(), true
	}
	return "", false
}
