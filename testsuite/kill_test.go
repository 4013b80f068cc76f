package testsuite_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// crashing are the options of a worker that is killed and of the one after it.
func crashing(d *desk, unknown string) interceptor.Options {
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: map[string]interceptor.Unknown{
		"Reconcile": interceptor.Reconcile(d.ask), "Hold": interceptor.Hold(), "Rerun": interceptor.Rerun(),
	}[unknown]})
	options.Policies["Batch"] = interceptor.Policy{
		Scope: effectonce.Run, Unknown: interceptor.Rerun(), HeldRetry: time.Second,
		SubEffects: map[string]interceptor.Unknown{"charge": interceptor.Reconcile(d.ask)},
	}
	return options
}

// A worker process is killed with SIGKILL; another worker goes on.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	in := order{ID: 7, Cents: 500}
	crash := func(t *testing.T, url, policy string, at halt, b provider.Behaviour) (*lab, client.WorkflowRun) {
		l := newLab(t, on(opened(t, url)))
		l.behave(b)
		// The workflow's worker lives on; it runs no activities until the other is dead.
		l.work(setup{workflows: map[string]any{"main": charge(3*time.Second, 0)}, options: crashing(l.desk, policy), worker: workflowsOnly})
		var run client.WorkflowRun
		l.killed(plan{Store: url, Policy: policy, Halt: at}, func() { run = l.start("main", in) })
		require.Len(t, l.effects(), map[halt]int{beforeEffect: 0, beforeRecord: 1, afterRecord: 1}[at])
		l.work(setup{activities: map[string]any{"Charge": l.Charge}, options: crashing(l.desk, policy), worker: activitiesOnly})
		return l, run
	}
	for name, fresh := range durable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("AfterTheRecordBeforeTemporalHears", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Hold", afterRecord, provider.Behaviour{IgnoreKeys: true})
				assert.Equal(t, store.Completed, l.record().State)
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				assert.Len(t, l.effects(), 1)
				assert.Empty(t, l.bodies(), "the second worker runs nothing")
			})
			t.Run("BetweenEffectAndRecord/ReconcileFindsTheReceipt", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Reconcile", beforeRecord, provider.Behaviour{IgnoreKeys: true})
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				assert.Len(t, l.effects(), 1)
				assert.Empty(t, l.bodies())
			})
			t.Run("BetweenEffectAndRecord/HoldWaitsForAPerson", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Hold", beforeRecord, provider.Behaviour{IgnoreKeys: true, RefuseQuestions: true})
				l.until("held", func() bool { return l.lastFailure(run) == effectonce.ErrTypeUnknown })
				held := l.attemptsNow(run)[0]
				l.until("two more attempts", l.attempted(run, held+2))
				assert.True(t, l.record().Uncertain())
				l.resolve(`{"id":"charge-1"}`)
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				assert.Equal(t, provider.Receipt{ID: "charge-1"}, await[provider.Receipt](l, l.reset(run, 1)), "and it stays resolved")
				assert.Len(t, l.effects(), 1)
				assert.Empty(t, l.bodies())
			})
			t.Run("BetweenEffectAndRecord/RerunSendsTheSameKey", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Rerun", beforeRecord, provider.Behaviour{})
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				require.Len(t, l.effects(), 1)
				assert.Equal(t, keysOf(l.effects()), l.bodies())
				assert.Equal(t, int64(2), l.record().Fence)
			})
			t.Run("BetweenClaimAndEffect/ReconcileRunsItOnce", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Reconcile", beforeEffect, provider.Behaviour{IgnoreKeys: true})
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				assert.Len(t, l.effects(), 1)
				assert.Len(t, l.bodies(), 1)
			})
			t.Run("BetweenClaimAndEffect/HoldRunsItOnceAPersonSaysSo", func(t *testing.T) {
				t.Parallel()
				l, run := crash(t, fresh(t), "Hold", beforeEffect, provider.Behaviour{IgnoreKeys: true})
				l.until("held", func() bool { return l.lastFailure(run) == effectonce.ErrTypeUnknown })
				assert.Empty(t, l.bodies())
				held := l.record()
				_, err := l.store.Amend(t.Context(), held, store.Change{Verb: store.NotApplied, Who: "operator", Why: "the provider knows nothing of it"})
				require.NoError(t, err)
				assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
				require.Len(t, l.effects(), 1)
				assert.Equal(t, held.Key.Downstream(2), l.effects()[0].Key, "a new request")
			})
		})
	}
}
