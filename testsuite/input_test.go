package testsuite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// The workflow puts its run ID into the input, which a reset changes. The fields that
// count can be named; without that, it is another action.
func TestRunIDInsideTheInput(t *testing.T) {
	t.Parallel()
	type link struct {
		Order order  `json:"order"`
		URL   string `json:"url"`
	}
	for name, c := range map[string]struct {
		identity []string
		effects  int
	}{
		"TheWholeInputCounts": {nil, 2}, // documented
		"NamedFieldsCount":    {[]string{"/0/order/id", "/0/order/cents"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Identity: c.identity}),
				activities: map[string]any{"Charge": func(ctx context.Context, in link) (provider.Receipt, error) { return l.Charge(ctx, in.Order) }},
				workflows: map[string]any{"main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
					note := "see /runs/" + workflow.GetInfo(ctx).WorkflowExecution.RunID
					return r, workflow.ExecuteActivity(calling(ctx, 20*time.Second, 0), "Charge", link{in, note}).Get(ctx, &r)
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			await[provider.Receipt](l, run)
			await[provider.Receipt](l, l.reset(run, 1))
			assert.Len(t, l.effects(), c.effects)
		})
	}
}
