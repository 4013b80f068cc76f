package testsuite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// Temporal lets a workflow use an activity ID again once its activity has ended.
func TestAnActivityIDUsedAgainIsAnotherAction(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options: charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
		workflows: map[string]any{"main": func(ctx workflow.Context) error {
			for id := range int64(3) {
				options := workflow.GetActivityOptions(calling(ctx, 20*time.Second, 0))
				options.ActivityID = "charge"
				ctx := workflow.WithActivityOptions(ctx, options)
				if err := workflow.ExecuteActivity(ctx, "Charge", order{ID: id + 1, Cents: 5}).Get(ctx, nil); err != nil {
					return err
				}
			}
			return nil
		}},
		activities: map[string]any{"Charge": l.Charge},
	})
	await[any](l, l.start("main"))
	assert.Len(t, l.effects(), 3)
}
