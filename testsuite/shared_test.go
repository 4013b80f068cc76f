package testsuite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/provider"
)

// Two agents propose the same refund at the same instant.
func TestTwoWorkflowsOfATenantAtTheSameInstant(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	together := faulty.Wrap(l.store, faulty.Before(faulty.Claim, barrier(2)).Times(2)) // the claims race
	l.work(setup{
		options: charging(interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}), store: together,
		workflows:  map[string]any{"acme": chargeFor("acme"), "other": chargeFor("other")},
		activities: map[string]any{"Charge": l.Charge},
	})
	in := order{ID: 9007199254740993, Cents: 500, Note: "so sorry"}
	reworded := in
	reworded.Note = "our apologies"
	first, second := l.start("acme", in), l.start("acme", reworded)
	receipt := await[provider.Receipt](l, first)
	assert.Equal(t, receipt, await[provider.Receipt](l, second))
	assert.Len(t, l.effects(), 1)

	answers := results(l.history(first))
	require.Len(t, answers, 1)
	assert.Equal(t, answers, results(l.history(second)), "the same bytes in both histories")

	// Another tenant's, and another order that a float64 cannot tell from this one,
	// are other actions.
	assert.NotEqual(t, receipt, await[provider.Receipt](l, l.start("other", in)))
	in.ID--
	assert.NotEqual(t, receipt, await[provider.Receipt](l, l.start("acme", in)))
	assert.Len(t, l.effects(), 3)
}

func TestScopeOverRunsOfOneWorkflowID(t *testing.T) {
	t.Parallel()
	in := order{ID: 1, Cents: 5}
	for scope, want := range map[effectonce.Scope][]string{
		effectonce.Run:       {"charge-1", "charge-2", "charge-3"},
		effectonce.Workflow:  {"charge-1", "charge-1", "charge-2"},
		effectonce.Namespace: {"charge-1", "charge-1", "charge-1"},
	} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
			})
			var got []string
			for _, id := range []string{"same", "same", "other"} {
				got = append(got, await[provider.Receipt](l, l.startAs(id, "main", in)).ID)
			}
			assert.Equal(t, want, got)
		})
	}
}

// The same key with another amount is another request: it must neither run nor be
// answered with the first one's receipt.
func TestOneActionIDWithTwoAmounts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options: charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Key: func(context.Context, []any) (string, error) {
			return "approval-1", nil
		}}),
		workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
	})
	await[provider.Receipt](l, l.start("main", order{ID: 1, Cents: 500}))
	err := application(t, l.ended(l.start("main", order{ID: 1, Cents: 900}), nil))
	assert.Equal(t, effectonce.ErrTypeMismatch, err.Type())
	assert.True(t, err.NonRetryable())
	assert.Contains(t, err.Message(), "/0/cents")
	assert.NotContains(t, err.Message(), "900")
	assert.Equal(t, "charge-1", await[provider.Receipt](l, l.start("main", order{ID: 1, Cents: 500})).ID)
	assert.Len(t, l.effects(), 1)
}
