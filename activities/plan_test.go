package activities_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/activities"
)

var turn = activities.Turn{ID: "turn-1", AskAgain: 1, Script: []activities.ToolCall{
	{Refund: &activities.RefundInput{OrderID: snowflake, AmountCents: 500, Note: "broken cup"}},
	{SendEmail: &activities.EmailInput{To: "bob@example.com", Template: "refunded", Body: "Hi"}},
	{CreateTicket: &activities.TicketInput{Customer: "bob", Topic: "cup", Details: "Broken."}},
	{LookupOrder: &activities.LookupInput{OrderID: snowflake}},
}}

func TestModelRewordsTextAndNothingElse(t *testing.T) {
	t.Parallel()
	var a activities.Activities
	said := map[string]bool{}
	for range 20 { // more often than there are phrases
		plan, err := a.PlanStep(t.Context(), activities.PlanInput{Turn: turn})
		require.NoError(t, err)
		require.Len(t, plan.Calls, 4)
		for _, text := range []string{
			plan.Say, plan.Calls[0].Refund.Note, plan.Calls[1].SendEmail.Body, plan.Calls[2].CreateTicket.Details,
		} {
			assert.False(t, said[text], "%q was said before", text)
			said[text] = true
		}
		plan.Calls[0].Refund.Note = turn.Script[0].Refund.Note
		plan.Calls[1].SendEmail.Body = turn.Script[1].SendEmail.Body
		plan.Calls[2].CreateTicket.Details = turn.Script[2].CreateTicket.Details
		assert.Equal(t, turn.Script, plan.Calls)
	}
	assert.Equal(t, "broken cup", turn.Script[0].Refund.Note, "the script itself stays")
}

func TestModelRepeatsItselfAndIsThenDone(t *testing.T) {
	t.Parallel()
	var a activities.Activities
	for round, calls := range []int{4, 4, 0} {
		plan, err := a.PlanStep(t.Context(), activities.PlanInput{Turn: turn, Round: round})
		require.NoError(t, err)
		assert.Len(t, plan.Calls, calls, "round %d", round)
	}
}
