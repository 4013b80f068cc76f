package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/activities"
)

// RemindersInput is the input of [Reminders].
type RemindersInput struct {
	Case    string `json:"case"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	// Times is how many reminders are sent. Default 3.
	Times int `json:"times,omitempty"`
	// Every is the time between two; 0 sends them one right after the other.
	Every time.Duration `json:"every,omitempty"`
	Calls CallOptions   `json:"calls"`
}

// Reminders sends the same reminder several times, on purpose: equal calls that are different
// actions, which is what scope Call is for.
func Reminders(ctx workflow.Context, in RemindersInput) ([]activities.Receipt, error) {
	ctx = in.Calls.apply(ctx)
	var receipts []activities.Receipt
	for i := range cmp.Or(in.Times, 3) {
		if i > 0 && in.Every > 0 {
			if err := workflow.Sleep(ctx, in.Every); err != nil {
				return receipts, err
			}
		}
		var receipt activities.Receipt
		reminder := activities.ReminderInput{To: in.To, Subject: in.Subject, Case: in.Case}
		if err := workflow.ExecuteActivity(ctx, tools.SendReminder, reminder).Get(ctx, &receipt); err != nil {
			return receipts, err
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}
