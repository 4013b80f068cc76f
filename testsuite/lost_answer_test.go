package testsuite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// The provider commits and the answer gets lost: the commonest way to an effect
// that happens twice.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	in := order{ID: 9007199254740993, Cents: 500}
	workflows := map[string]any{"main": charge(20*time.Second, 0)}

	t.Run("ReconcileFindsTheEffect", func(t *testing.T) {
		t.Parallel()
		for _, ending := range []provider.Ending{provider.EndClose, provider.EndReset, provider.EndCut, provider.EndBadGateway} {
			t.Run(string(ending), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: ending}}})
				l.work(setup{
					options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Reconcile(l.ask)}),
					workflows: workflows, activities: map[string]any{"Charge": l.Charge},
				})
				receipt := await[provider.Receipt](l, l.start("main", in))
				assert.Equal(t, provider.Receipt{ID: "charge-1", OrderID: in.ID}, receipt)
				assert.Len(t, l.effects(), 1)
				assert.Len(t, l.bodies(), 1)
			})
		}
	})

	t.Run("RerunSendsTheSameKey", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.behave(provider.Behaviour{Faults: []provider.Fault{{Count: 2, Ending: provider.EndClose}}}) // honours keys
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}),
			workflows: workflows, activities: map[string]any{"Charge": l.Charge},
		})
		receipt := await[provider.Receipt](l, l.start("main", in))
		assert.Equal(t, "charge-1", receipt.ID)
		require.Len(t, l.effects(), 1)
		key := l.effects()[0].Key
		require.NotEmpty(t, key)
		assert.Equal(t, []string{key, key, key}, l.bodies(), "every attempt sends one key")
	})

	t.Run("HoldWaitsForAPerson", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}})
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
			workflows: workflows, activities: map[string]any{"Charge": l.Charge},
		})
		run := l.start("main", in)
		l.until("third attempt", l.attempted(run, 3))
		assert.Equal(t, effectonce.ErrTypeUnknown, l.lastFailure(run))
		assert.Equal(t, store.Unknown, l.record().State)
		l.resolve(`{"id":"charge-1"}`)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
		assert.Len(t, l.effects(), 1)
		assert.Len(t, l.bodies(), 1)
	})
}

// resolve says, as an operator would, that the only action was applied.
func (l *lab) resolve(result string) {
	l.t.Helper()
	o, err := outcome.OfJSON([]byte(result))
	require.NoError(l.t, err)
	_, err = l.store.Amend(l.t.Context(), l.record(), store.Change{Verb: store.Complete, Outcome: o, Who: "operator", Why: "seen in the provider's console"})
	require.NoError(l.t, err)
}
