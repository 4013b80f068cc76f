package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/workflows"
)

// playFunc is what happens in a row. It is the same with effectonce and without, as far as the row's
// unknown outcomes allow.
type playFunc func(context.Context, *session) error

// order has 19 digits, as the IDs of many systems do. No float64 holds it.
const order = int64(1234567890123456789)

// single is the input of a workflow with one refund. An attempt is given up after timeout.
func (s *session) single(timeout time.Duration) workflows.SingleRefundInput {
	return workflows.SingleRefundInput{
		Tenant: s.name(),
		Refund: activities.RefundInput{OrderID: order, AmountCents: 500, Note: "broken cup", Case: s.name()},
		Calls:  workflows.CallOptions{StartToClose: timeout},
	}
}

// agent is the input of a support agent that has one turn.
func (s *session) agent(turn activities.Turn) workflows.SupportInput {
	turn.ID = "turn-1"
	return workflows.SupportInput{Case: s.name(), Tenant: s.name(), TicketDesk: true, Turns: []activities.Turn{turn}}
}

func refundOf(orderID int64) activities.ToolCall {
	return activities.ToolCall{Refund: &activities.RefundInput{OrderID: orderID, AmountCents: 500, Note: "broken cup"}}
}

func oneRefund(ctx context.Context, s *session) error {
	run, err := s.start(ctx, "", workflows.SingleRefund, s.single(0))
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}

// killedAfter is how long an attempt may take where the worker is killed: Temporal notices the death
// of a worker only by that.
const killedAfter = 3 * time.Second

// killWorker returns a refund whose first worker has died after the effect and whose second is up.
func killWorker(ctx context.Context, s *session) (client.WorkflowRun, error) {
	died, err := s.crashing()
	if err != nil {
		return nil, err
	}
	run, err := s.start(ctx, "", workflows.SingleRefund, s.single(killedAfter))
	if err != nil {
		return nil, err
	}
	if err := died(ctx); err != nil {
		return nil, err
	}
	return run, s.surviving()
}

func workerKilled(ctx context.Context, s *session) error {
	run, err := killWorker(ctx, s)
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}

func workerKilledThenResolved(ctx context.Context, s *session) error {
	run, err := killWorker(ctx, s)
	if err != nil {
		return err
	}
	if !s.with {
		return run.Get(ctx, nil) // nobody holds anything
	}
	resolved, err := s.resolveHeld(ctx, run)
	if err != nil {
		return err
	}
	var receipt activities.Receipt
	if err := run.Get(ctx, &receipt); err != nil {
		return err
	}
	if receipt != resolved {
		return fmt.Errorf("the workflow got %v, but was resolved with %v", receipt, resolved)
	}
	return nil
}

func agentThenReset(ctx context.Context, s *session) error {
	return s.twice(ctx, workflows.SupportAgent, s.agent(activities.Turn{Script: []activities.ToolCall{
		refundOf(order),
		{SendEmail: &activities.EmailInput{To: "bob@example.com", Template: "refunded", Body: "Your money is on its way."}},
		{CreateTicket: &activities.TicketInput{Customer: "bob", Topic: "broken cup"}},
	}}))
}

func remindersThenReset(ctx context.Context, s *session) error {
	return s.twice(ctx, workflows.Reminders, workflows.RemindersInput{Case: s.name(), To: "bob@example.com", Subject: "Your invoice", Times: 3})
}

// twice runs a workflow to its end, resets it to its start, and lets it run to its end again.
func (s *session) twice(ctx context.Context, workflow, input any) error {
	run, err := s.start(ctx, "", workflow, input)
	if err != nil {
		return err
	}
	if err := run.Get(ctx, nil); err != nil {
		return err
	}
	if run, err = s.reset(ctx, run); err != nil {
		return err
	}
	return run.Get(ctx, nil)
}

func twoAgents(ctx context.Context, s *session) error {
	var runs [2]client.WorkflowRun
	for i := range runs {
		run, err := s.start(ctx, "-agent-"+strconv.Itoa(i+1), workflows.SupportAgent, s.agent(activities.Turn{Script: []activities.ToolCall{refundOf(order)}}))
		if err != nil {
			return err
		}
		runs[i] = run
	}
	var told [2]workflows.Transcript
	for i, run := range runs {
		if err := run.Get(ctx, &told[i]); err != nil {
			return err
		}
	}
	if a, b := told[0][0].Result.Reference, told[1][0].Result.Reference; s.with && a != b {
		return fmt.Errorf("one agent was told %s, the other %s", a, b)
	}
	return nil
}

func modelAsksAgain(ctx context.Context, s *session) error {
	run, err := s.start(ctx, "", workflows.SupportAgent, s.agent(activities.Turn{Script: []activities.ToolCall{refundOf(order)}, AskAgain: 1}))
	if err != nil {
		return err
	}
	var told workflows.Transcript
	if err := run.Get(ctx, &told); err != nil {
		return err
	}
	if len(told) != 2 || told[0].Call.Refund.Note == told[1].Call.Refund.Note {
		return errors.New("the model was expected to ask twice, in different words")
	}
	return nil
}

func neighbouringOrders(ctx context.Context, s *session) error {
	run, err := s.start(ctx, "", workflows.SupportAgent, s.agent(activities.Turn{Script: []activities.ToolCall{refundOf(order), refundOf(order + 1)}}))
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}

func declinedThenReset(ctx context.Context, s *session) error {
	run, err := s.start(ctx, "", workflows.SingleRefund, s.single(0))
	if err != nil {
		return err
	}
	var failure *temporal.ApplicationError
	if err := run.Get(ctx, nil); !errors.As(err, &failure) || failure.Type() != activities.ErrTypeDeclined {
		return fmt.Errorf("the card was not declined, but: %w", err)
	}
	fixed := s.row.behaviour(s.trial)
	fixed.Faults = nil
	if err := s.provider.SetFaults(ctx, fixed); err != nil {
		return err
	}
	if run, err = s.reset(ctx, run); err != nil {
		return err
	}
	return run.Get(ctx, nil)
}
