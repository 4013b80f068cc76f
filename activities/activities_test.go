package activities_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/suite"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/internal/current"
	"github.com/effectonce/effectonce/internal/mark"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/key"
)

// Suite runs every activity against a provider over TCP.
type Suite struct {
	suite.Suite
	sdktest.WorkflowTestSuite

	server     *httptest.Server
	provider   *provider.Client
	bodies     bodies
	activities *activities.Activities
	env        *sdktest.TestActivityEnvironment
}

func TestActivities(t *testing.T) { suite.Run(t, new(Suite)) }

func (s *Suite) SetupTest() {
	handler, err := provider.NewServer(provider.Options{})
	s.Require().NoError(err)
	s.server = httptest.NewServer(handler)
	s.provider = provider.NewClient(s.server.URL)
	s.bodies = bodies{}
	s.activities = &activities.Activities{Provider: s.provider, Bodies: &s.bodies}
	s.env = s.NewTestActivityEnvironment()
	s.env.RegisterActivity(s.activities)
}

func (s *Suite) TearDownTest() { s.server.Close() }

// bodies is a body log in memory.
type bodies struct {
	mu      sync.Mutex
	started []string
}

func (b *bodies) BodyStarted(activity, supportCase string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = append(b.started, activity+" "+supportCase)
}

// action is what the interceptor gives to a body.
var action = current.Action{Key: key.Key{1, 2, 3}, Generation: 1, Fence: 1}

func (s *Suite) withAction() context.Context { return current.With(s.T().Context(), action) }

const snowflake = int64(1234567890123456789) // no float64 holds it

var refund = activities.RefundInput{OrderID: snowflake, AmountCents: 500, Note: "broken cup", Case: "a"}

func (s *Suite) effects() []provider.Effect {
	s.T().Helper()
	found, err := s.provider.Effects(s.T().Context(), provider.Filter{})
	s.Require().NoError(err)
	return found
}

func (s *Suite) setFaults(faults ...provider.Fault) {
	s.T().Helper()
	s.Require().NoError(s.provider.SetFaults(s.T().Context(), provider.Behaviour{Case: "a", Faults: faults}))
}

func (s *Suite) TestEveryToolHasItsEffect() {
	tools := []struct {
		activity, in any
		want         activities.Receipt
		kind         provider.Kind
		body         string
	}{
		{
			s.activities.Refund, refund, activities.Receipt{ID: "refund-1", OrderID: snowflake}, provider.KindRefund,
			`{"order_id":1234567890123456789,"amount_cents":500,"note":"broken cup"}`,
		},
		{
			s.activities.SendEmail, activities.EmailInput{Case: "a", To: "bob@example.com", Template: "refunded", Body: "Hi"},
			activities.Receipt{ID: "email-2"}, provider.KindEmail,
			`{"to":"bob@example.com","template":"refunded","body":"Hi"}`,
		},
		{
			s.activities.SendReminder, activities.ReminderInput{Case: "a", To: "bob@example.com", Subject: "Please pay"},
			activities.Receipt{ID: "email-3"}, provider.KindEmail,
			`{"to":"bob@example.com","template":"reminder","body":"Please pay"}`,
		},
		{
			s.activities.CreateTicket, activities.TicketInput{Case: "a", Customer: "bob", Topic: "cup", Details: "Broken."},
			activities.Receipt{ID: "ticket-4"}, provider.KindTicket,
			`{"customer":"bob","topic":"cup","details":"Broken."}`,
		},
	}
	for i, tool := range tools {
		value, err := s.env.ExecuteActivity(tool.activity, tool.in)
		s.Require().NoError(err)
		var got activities.Receipt
		s.Require().NoError(value.Get(&got))
		s.Equal(tool.want, got)
		e := s.effects()[i]
		s.Equal(tool.kind, e.Kind)
		s.Equal("a", e.Case)
		s.Empty(e.Key, "without the interceptor there is no key")
		s.JSONEq(tool.body, string(e.Body))
	}
	s.Equal([]string{"Refund a", "SendEmail a", "SendReminder a", "CreateTicket a"}, s.bodies.started)
}

func (s *Suite) TestLookupOrderChangesNothing() {
	value, err := s.env.ExecuteActivity(s.activities.LookupOrder, activities.LookupInput{OrderID: snowflake})
	s.Require().NoError(err)
	var order activities.Order
	s.Require().NoError(value.Get(&order))
	s.Equal(snowflake, order.ID)
	s.Empty(s.effects())
}

func (s *Suite) TestUnknownOrderIsNotRetried() {
	_, err := s.env.ExecuteActivity(s.activities.LookupOrder, activities.LookupInput{OrderID: -1})
	s.assertFailure(err, activities.ErrTypeRefused)
}

func (s *Suite) TestKeyOfTheActionIsSent() {
	_, err := s.activities.Refund(s.withAction(), refund)
	s.Require().NoError(err)
	s.Equal(action.Key.String(), s.effects()[0].Key)
}

func (s *Suite) TestDeclineIsMarkedNotApplied() {
	s.setFaults(provider.Fault{Ending: provider.EndDecline})
	_, err := s.activities.Refund(s.withAction(), refund)
	s.assertMark(mark.NotApplied, err)
	s.assertFailure(err, activities.ErrTypeDeclined)
	s.Empty(s.effects())
}

// Nobody takes a mark off there, and a marked error is not seen as non-retryable.
func (s *Suite) TestDeclineWithoutTheInterceptorIsNotRetried() {
	s.setFaults(provider.Fault{Ending: provider.EndDecline})
	_, err := s.env.ExecuteActivity(s.activities.Refund, refund)
	s.assertFailure(err, activities.ErrTypeDeclined)
	_, err = s.activities.Refund(s.T().Context(), refund)
	s.assertMark(mark.None, err)
}

func (s *Suite) TestRefusalBeforeTheCommitIsMarkedNotAppliedAndRetried() {
	s.setFaults(provider.Fault{Ending: provider.EndFail})
	_, err := s.activities.Refund(s.withAction(), refund)
	s.assertMark(mark.NotApplied, err)
	var final *temporal.ApplicationError
	s.False(errors.As(err, &final), "a plain error, which Temporal retries")
	s.Empty(s.effects())
}

func (s *Suite) TestLostAnswerIsReturnedAsItIs() {
	for i, ending := range []provider.Ending{provider.EndClose, provider.EndReset, provider.EndCut, provider.EndBadGateway} {
		s.setFaults(provider.Fault{Ending: ending})
		_, err := s.activities.Refund(s.T().Context(), refund)
		s.Require().Error(err)
		s.assertMark(mark.None, err)
		var application *temporal.ApplicationError
		s.False(errors.As(err, &application), "%s: %v", ending, err)
		s.Len(s.effects(), i+1)
		if ending == provider.EndClose {
			s.ErrorIs(err, io.EOF)
		}
	}
}

// The model has reworded the note since the answer was lost: for a provider that compares requests
// that is another request under the key. It is still the same action.
func (s *Suite) TestRewordedNoteUnderTheSameKeyGetsTheFirstReceipt() {
	s.setFaults(provider.Fault{Count: 1, Ending: provider.EndClose})
	_, err := s.activities.Refund(s.withAction(), refund)
	s.Require().Error(err)

	reworded := refund
	reworded.Note = "the cup was broken"
	receipt, err := s.activities.Refund(s.withAction(), reworded)
	s.Require().NoError(err)
	s.Equal(activities.Receipt{ID: "refund-1", OrderID: snowflake}, receipt)
	s.Len(s.effects(), 1)
}

func (s *Suite) TestRewordedNoteIsUnknownIfTheProviderCannotBeAsked() {
	_, err := s.activities.Refund(s.withAction(), refund)
	s.Require().NoError(err)
	s.Require().NoError(s.provider.SetFaults(s.T().Context(), provider.Behaviour{Case: "a", RefuseQuestions: true}))

	reworded := refund
	reworded.Note = "the cup was broken"
	_, err = s.activities.Refund(s.withAction(), reworded)
	var reused *provider.KeyReusedError
	s.Require().ErrorAs(err, &reused)
	s.assertMark(mark.None, err)
}

func (s *Suite) TestDoneContextStartsNoEffect() {
	ctx, cancel := context.WithCancelCause(s.withAction())
	gone := errors.New("the worker stops")
	cancel(gone)
	_, err := s.activities.Refund(ctx, refund)
	s.Require().Equal(gone, err, "the cause itself: not even net/http was asked")
	s.assertMark(mark.None, err)
	stats, err := s.provider.Stats(s.T().Context(), "")
	s.Require().NoError(err)
	s.Zero(stats.Requests)
}

func (s *Suite) assertMark(want mark.Meaning, err error) {
	s.T().Helper()
	m, _ := mark.Of(err)
	s.Equal(want, m.Meaning, "%v", err)
}

// assertFailure checks that err is a non-retryable error of the type.
func (s *Suite) assertFailure(err error, errType string) {
	s.T().Helper()
	var failure *temporal.ApplicationError
	s.Require().ErrorAs(err, &failure)
	s.Equal(errType, failure.Type())
	s.True(failure.NonRetryable())
}

func TestNilBodyLogIsFine(t *testing.T) {
	t.Parallel()
	_, err := new(activities.Activities).PlanStep(t.Context(), activities.PlanInput{})
	assert.NoError(t, err)
}
