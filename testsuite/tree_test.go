package testsuite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// branch is a workflow that charges and has children which do the same.
type branch struct {
	Order    order
	ID       string // explicit workflow ID
	Children []branch
}

func grow(ctx workflow.Context, b branch) error {
	if _, err := charge(20*time.Second, 0)(ctx, b.Order); err != nil {
		return err
	}
	children := make([]workflow.Future, len(b.Children))
	for i, c := range b.Children {
		ctx := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: c.ID})
		children[i] = workflow.ExecuteChildWorkflow(ctx, "grow", c)
	}
	for _, f := range children {
		if err := f.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// Children with generated IDs get other IDs after a reset of their parent, and every
// child's run is new.
func TestResetOfAParentWithChildrenAndGrandchildren(t *testing.T) {
	t.Parallel()
	same := order{ID: 1, Cents: 5} // equal everywhere: only the place in the tree differs
	tree := branch{Order: same, Children: []branch{
		{Order: same, Children: []branch{{Order: same}}},
		{Order: same, Children: []branch{{Order: same}}}, // an equal twin
		{Order: same, ID: "named"},
	}}
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run, effectonce.Chain} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"grow": grow}, activities: map[string]any{"Charge": l.Charge},
			})
			run := l.start("grow", tree)
			await[any](l, run)
			require.Len(t, l.effects(), 6)
			sent := keysOf(l.effects())
			slices.Sort(sent)
			assert.Len(t, slices.Compact(slices.Clone(sent)), 6, "six different keys")
			reset := l.reset(run, 1)
			await[any](l, reset)
			await[any](l, l.reset(reset, 1))
			assert.Len(t, l.effects(), 6)
			assert.Len(t, l.records(), 6)
		})
	}
}

// Scope Workflow cannot hold in a child whose ID a reset changes: it is refused.
func TestWorkflowScopeInAChildWithAGeneratedID(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options:   charging(interceptor.Policy{Scope: effectonce.Workflow, Unknown: interceptor.Hold()}),
		workflows: map[string]any{"grow": grow}, activities: map[string]any{"Charge": l.Charge},
	})
	run := l.start("grow", branch{Order: order{ID: 1}, Children: []branch{{Order: order{ID: 2}}}})
	l.until("the child is refused", func() bool {
		return slices.ContainsFunc(l.pending(run).GetPendingChildren(), func(c *workflowpb.PendingChildExecutionInfo) bool {
			if c.GetRunId() == "" {
				return false // it is asked for, and not there yet
			}
			child := l.client.GetWorkflow(t.Context(), c.GetWorkflowId(), c.GetRunId())
			return l.lastFailure(child) == effectonce.ErrTypeScope
		})
	})
	assert.Len(t, l.effects(), 1, "the parent's own")
}

// iterate charges the same thing in each run, and continues as new.
func iterate(ctx workflow.Context, left int) error {
	if _, err := charge(20*time.Second, 0)(ctx, order{ID: 1, Cents: 5}); err != nil {
		return err
	}
	switch {
	case left == 0:
		return nil
	case left%2 == 0: // both hooks of the SDK
		return workflow.NewContinueAsNewError(ctx, "iterate", left-1)
	}
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{}, "iterate", left-1)
}

// With continue-as-new both wishes exist: new work in each run, or one action.
func TestContinueAsNewAndResetsInTheChain(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{
		effectonce.Call: 3, effectonce.Run: 3, effectonce.Chain: 1, effectonce.Workflow: 1,
	} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"iterate": iterate}, activities: map[string]any{"Charge": l.Charge},
			})
			first := l.start("iterate", 2)
			second := l.followed(first)
			third := l.followed(second)
			await[any](l, third)
			assert.Len(t, l.effects(), effects)

			await[any](l, l.reset(third, 1)) // the last run of the chain
			assert.Len(t, l.effects(), effects, "after a reset of the third run")
			middle := l.reset(second, 1) // goes on to a third run of its own
			await[any](l, l.followed(middle))
			assert.Len(t, l.effects(), effects, "after a reset of the second run")
			start := l.reset(first, 1)
			await[any](l, l.followed(l.followed(start)))
			assert.Len(t, l.effects(), effects, "after a reset of the first run")
		})
	}
}

// followed returns the run with which another continued as new.
func (l *lab) followed(run client.WorkflowRun) client.WorkflowRun {
	l.t.Helper()
	require.Error(l.t, l.ended(run, nil), "it did not continue as new")
	events := l.history(run)
	next := events[len(events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	require.NotEmpty(l.t, next)
	return l.client.GetWorkflow(l.t.Context(), run.GetID(), next)
}
