package workflows_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/suite"
	"go.temporal.io/sdk/activity"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/internal/ambient"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/workflows"
)

// Suite runs the workflows with the real activities against a provider over TCP, without effectonce.
type Suite struct {
	suite.Suite
	sdktest.WorkflowTestSuite

	server   *httptest.Server
	provider *provider.Client
	said     said
	env      *sdktest.TestWorkflowEnvironment
}

func TestWorkflows(t *testing.T) { suite.Run(t, new(Suite)) }

func (s *Suite) SetupTest() {
	handler, err := provider.NewServer(provider.Options{})
	s.Require().NoError(err)
	s.server = httptest.NewServer(handler)
	s.provider = provider.NewClient(s.server.URL)
	s.said = said{}
	s.env = s.NewTestWorkflowEnvironment()
	s.env.SetWorkerOptions(sdkworker.Options{
		Interceptors:             []sdkinterceptor.WorkerInterceptor{&s.said},
		DeadlockDetectionTimeout: time.Minute, // the race detector on a busy machine is slow
	})
	s.env.SetTestTimeout(time.Minute)
	s.env.RegisterActivity(&activities.Activities{Provider: s.provider})
	workflows.Register(s.env)
}

func (s *Suite) TearDownTest() { s.server.Close() }

const snowflake = int64(1234567890123456789) // no float64 holds it

func refund(orderID int64) activities.ToolCall {
	return activities.ToolCall{Refund: &activities.RefundInput{OrderID: orderID, AmountCents: 500, Note: "broken cup"}}
}

var (
	email  = activities.ToolCall{SendEmail: &activities.EmailInput{To: "bob@example.com", Template: "refunded", Body: "Hi"}}
	ticket = activities.ToolCall{CreateTicket: &activities.TicketInput{Customer: "bob", Topic: "cup", Details: "Broken."}}
	lookup = activities.ToolCall{LookupOrder: &activities.LookupInput{OrderID: snowflake}}
)

// run executes a workflow and decodes its result.
func (s *Suite) run(w, in, out any) {
	s.T().Helper()
	s.env.ExecuteWorkflow(w, in)
	s.Require().True(s.env.IsWorkflowCompleted())
	s.Require().NoError(s.env.GetWorkflowError())
	s.Require().NoError(s.env.GetWorkflowResult(out))
}

func (s *Suite) setFaults(faults ...provider.Fault) {
	s.T().Helper()
	s.Require().NoError(s.provider.SetFaults(s.T().Context(), provider.Behaviour{Case: "case-7", Faults: faults}))
}

func (s *Suite) effects(kind provider.Kind) []provider.Effect {
	s.T().Helper()
	found, err := s.provider.Effects(s.T().Context(), provider.Filter{Kind: kind, Case: "case-7"})
	s.Require().NoError(err)
	return found
}

func (s *Suite) TestAgentMakesTheCallsOfEveryTurn() {
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{lookup, refund(snowflake), refund(snowflake + 1)}},
		{ID: "turn-2", Script: []activities.ToolCall{email, ticket}},
	}}, &transcript)

	s.Equal([]string{
		"turn-1 LookupOrder order 1234567890123456789: paid", "turn-1 Refund refund-1", "turn-1 Refund refund-2",
		"turn-2 SendEmail email-3", "turn-2 CreateTicket ticket-4",
	}, lines(transcript))
	refunds := s.effects(provider.KindRefund)
	s.Require().Len(refunds, 2)
	s.Contains(string(refunds[0].Body), `"order_id":1234567890123456789`)
	s.Contains(string(refunds[1].Body), `"order_id":1234567890123456790`)
	s.Len(s.effects(provider.KindEmail), 1)
	s.Len(s.effects(provider.KindTicket), 1)
}

func lines(t workflows.Transcript) []string {
	var out []string
	for _, e := range t {
		out = append(out, strings.Join([]string{e.TurnID, e.Result.Tool, e.Result.Reference + e.Result.Error}, " "))
	}
	return out
}

// This is the damage that effectonce is there for.
func (s *Suite) TestModelThatAsksAgainRefundsAgain() {
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Turns: []activities.Turn{
		{ID: "turn-1", AskAgain: 1, Script: []activities.ToolCall{refund(snowflake)}},
	}}, &transcript)
	s.Require().Len(transcript, 2)
	s.NotEqual(transcript[0].Call.Refund.Note, transcript[1].Call.Refund.Note)
	s.Len(s.effects(provider.KindRefund), 2)
}

func (s *Suite) TestTicketDeskOpensTheTicketInAChild() {
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", TicketDesk: true, Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{ticket}},
	}}, &transcript)
	s.Equal([]string{"turn-1 TicketDesk ticket-1"}, lines(transcript))
	tickets := s.effects(provider.KindTicket)
	s.Require().Len(tickets, 1)
	s.NotContains(string(tickets[0].Body), "wording", "a child has none of the model's text")
}

func (s *Suite) TestDeclineIsToldToTheModel() {
	s.setFaults(provider.Fault{Kind: provider.KindRefund, Ending: provider.EndDecline})
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{refund(snowflake), email}},
	}}, &transcript)
	s.Require().Len(transcript, 2)
	s.Contains(transcript[0].Result.Error, "card_declined")
	s.Empty(transcript[0].Result.Reference)
	s.Len(s.effects(provider.KindEmail), 1)
	stats, err := s.provider.Stats(s.T().Context(), "case-7")
	s.Require().NoError(err)
	s.Equal(provider.Stats{Requests: 2, Effects: 1}, stats, "a decline is not retried")
}

// An error that may hide an effect must not reach the model as "failed".
func (s *Suite) TestAnyOtherErrorEndsTheAgent() {
	s.setFaults(provider.Fault{Kind: provider.KindRefund, Ending: provider.EndClose})
	s.env.ExecuteWorkflow(workflows.SupportAgent, workflows.SupportInput{
		Case: "case-7", Calls: workflows.CallOptions{MaximumAttempts: 2},
		Turns: []activities.Turn{{ID: "turn-1", Script: []activities.ToolCall{refund(snowflake), email}}},
	})
	s.Require().ErrorContains(s.env.GetWorkflowError(), "EOF")
	s.Len(s.effects(provider.KindRefund), 2, "two attempts, two refunds: this is without effectonce")
	s.Empty(s.effects(provider.KindEmail))
}

func (s *Suite) TestCallWithoutAToolIsAnError() {
	s.env.ExecuteWorkflow(workflows.SupportAgent, workflows.SupportInput{
		Case: "case-7", Turns: []activities.Turn{{ID: "turn-1", Script: []activities.ToolCall{{}}}},
	})
	var failure *temporal.ApplicationError
	s.Require().ErrorAs(s.env.GetWorkflowError(), &failure)
	s.Equal("EmptyToolCall", failure.Type())
}

func (s *Suite) TestTurnsBySignalAndTranscriptByQuery() {
	s.env.RegisterDelayedCallback(func() {
		s.env.SignalWorkflow(workflows.SignalTurn, activities.Turn{ID: "turn-2", Script: []activities.ToolCall{refund(2)}})
	}, time.Minute)
	var during workflows.Transcript
	s.env.RegisterDelayedCallback(func() {
		value, err := s.env.QueryWorkflow(workflows.QueryTranscript)
		s.Require().NoError(err)
		s.Require().NoError(value.Get(&during))
	}, 2*time.Minute)
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Idle: time.Hour, Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{refund(1)}},
	}}, &transcript)
	s.Equal([]string{"turn-1 Refund refund-1", "turn-2 Refund refund-2"}, lines(transcript))
	s.Equal(transcript, during)
}

func (s *Suite) TestTurnsThatHaveArrivedAreServedWithoutWaiting() {
	s.env.RegisterDelayedCallback(func() {
		for _, id := range []string{"turn-2", "turn-3"} {
			s.env.SignalWorkflow(workflows.SignalTurn, activities.Turn{ID: id, Script: []activities.ToolCall{refund(2)}})
		}
	}, 0)
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{refund(1)}},
	}}, &transcript)
	s.Equal([]string{"turn-1 Refund refund-1", "turn-2 Refund refund-2", "turn-3 Refund refund-3"}, lines(transcript))
}

func (s *Suite) TestCancelledAgentSaysSo() {
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	s.env.ExecuteWorkflow(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Idle: time.Hour})
	s.True(temporal.IsCanceledError(errors.Unwrap(s.env.GetWorkflowError())), "%v", s.env.GetWorkflowError())
}

func (s *Suite) TestRemindersAreThreeEqualMails() {
	var receipts []activities.Receipt
	began := s.env.Now()
	s.run(workflows.Reminders, workflows.RemindersInput{
		Case: "case-7", To: "bob@example.com", Subject: "Please pay", Every: 24 * time.Hour,
	}, &receipts)
	s.Len(receipts, 3)
	mails := s.effects(provider.KindEmail)
	s.Require().Len(mails, 3)
	s.Equal(mails[0].Body, mails[1].Body)
	s.Equal(mails[0].Body, mails[2].Body)
	s.GreaterOrEqual(s.env.Now().Sub(began), 48*time.Hour)
}

func (s *Suite) TestSingleRefund() {
	var receipt activities.Receipt
	s.run(workflows.SingleRefund, workflows.SingleRefundInput{Refund: activities.RefundInput{
		OrderID: snowflake, AmountCents: 500, Case: "case-7",
	}}, &receipt)
	s.Equal(activities.Receipt{ID: "refund-1", OrderID: snowflake}, receipt)
	s.Len(s.effects(provider.KindRefund), 1)
}

func (s *Suite) TestSingleRefundFailsWithTheDecline() {
	s.setFaults(provider.Fault{Ending: provider.EndDecline})
	s.env.ExecuteWorkflow(workflows.SingleRefund, workflows.SingleRefundInput{Refund: activities.RefundInput{OrderID: 1, Case: "case-7"}})
	var failure *temporal.ApplicationError
	s.Require().ErrorAs(s.env.GetWorkflowError(), &failure)
	s.Equal(activities.ErrTypeDeclined, failure.Type())
}

func (s *Suite) TestCallOptionsReachTheActivity() {
	var got time.Duration
	s.env.OnActivity("Refund", mock.Anything, mock.Anything).Return(func(ctx context.Context, _ activities.RefundInput) (activities.Receipt, error) {
		got = activity.GetInfo(ctx).StartToCloseTimeout
		return activities.Receipt{}, nil
	})
	var receipt activities.Receipt
	s.run(workflows.SingleRefund, workflows.SingleRefundInput{Calls: workflows.CallOptions{StartToClose: 2 * time.Second}}, &receipt)
	s.Equal(2*time.Second, got)
}

// Every tool call is made for a tenant and a turn.
func (s *Suite) TestTenantAndIntentAreSaid() {
	var transcript workflows.Transcript
	s.run(workflows.SupportAgent, workflows.SupportInput{Case: "case-7", Tenant: "acme", TicketDesk: true, Turns: []activities.Turn{
		{ID: "turn-1", Script: []activities.ToolCall{refund(1), ticket}},
		{ID: "turn-2", Script: []activities.ToolCall{email}},
	}}, &transcript)
	s.Equal([]string{
		"Refund acme/turn-1", "TicketDesk acme/turn-1", "SendEmail acme/turn-2",
	}, s.said.calls)
}

func (s *Suite) TestSingleRefundSaysItsTenant() {
	var receipt activities.Receipt
	s.run(workflows.SingleRefund, workflows.SingleRefundInput{Tenant: "acme"}, &receipt)
	s.Equal([]string{"Refund acme/"}, s.said.calls)
}

// said notes what workflows (not children) say about their tool calls.
type said struct {
	sdkinterceptor.WorkerInterceptorBase
	calls []string
}

func (i *said) InterceptWorkflow(_ workflow.Context, next sdkinterceptor.WorkflowInboundInterceptor) sdkinterceptor.WorkflowInboundInterceptor {
	in := &inbound{said: i}
	in.Next = next
	return in
}

type inbound struct {
	sdkinterceptor.WorkflowInboundInterceptorBase
	said *said
}

func (i *inbound) Init(next sdkinterceptor.WorkflowOutboundInterceptor) error {
	out := &outbound{said: i.said}
	out.Next = next
	return i.Next.Init(out)
}

type outbound struct {
	sdkinterceptor.WorkflowOutboundInterceptorBase
	said *said
}

func (o *outbound) note(ctx workflow.Context, name string) {
	if name != "PlanStep" && workflow.GetInfo(ctx).ParentWorkflowExecution == nil {
		o.said.calls = append(o.said.calls, name+" "+ambient.From(ctx, ambient.Tenant)+"/"+ambient.From(ctx, ambient.Intent))
	}
}

func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	o.note(ctx, name)
	return o.Next.ExecuteActivity(ctx, name, args...)
}

func (o *outbound) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	o.note(ctx, name)
	return o.Next.ExecuteChildWorkflow(ctx, name, args...)
}
