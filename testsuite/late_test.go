package testsuite_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// slowly returns a Charge that has its effect at once or at the end, takes its time
// in between, and heeds no context.
func (d *desk) slowly(effectLast bool, until <-chan struct{}) func(context.Context, order) (provider.Receipt, error) {
	return func(ctx context.Context, in order) (r provider.Receipt, err error) {
		d.began(ctx)
		ctx = context.WithoutCancel(ctx)
		if !effectLast {
			r, err = d.charge(ctx, in)
		}
		select {
		case <-until:
		case <-time.After(patience):
		}
		if effectLast {
			r, err = d.charge(ctx, in)
		}
		return r, err
	}
}

// The server retries an attempt whose time is over, while its body still runs: the
// SDK does not stop it, and throws its result away.
func TestStartToCloseIsOverAndTheBodyStillRuns(t *testing.T) {
	t.Parallel()
	for name, unknown := range map[string]interceptor.Unknown{"Hold": interceptor.Hold(), "Rerun": interceptor.Rerun()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			release := make(chan struct{})
			options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: unknown})
			options.Lease = 10 * time.Second // renewed until one lease after the deadline
			var asked atomic.Int64
			l.work(setup{
				options: options, store: counting(l.store, &asked),
				workflows:  map[string]any{"main": charge(1500*time.Millisecond, 0)},
				activities: map[string]any{"Charge": l.slowly(true, release)},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("the second attempt has asked", func() bool { return asked.Load() == 2 })
			close(release)
			receipt := await[provider.Receipt](l, run)
			assert.Equal(t, "charge-1", receipt.ID)
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1)
			assert.Equal(t, 1, l.record().Attempt, "the first attempt's result was handed out")
		})
	}
}

func TestSuccessAfterTheDeadlineIsRecordedAndReplayed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	release := make(chan struct{})
	l.work(setup{
		options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
		workflows:  map[string]any{"main": charge(1500*time.Millisecond, 2)},
		activities: map[string]any{"Charge": l.slowly(false, release)},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	l.until("the effect", func() bool { return len(l.effects()) == 1 })
	deadline := time.Now().Add(1600 * time.Millisecond)
	l.until("the deadline", func() bool { return time.Now().After(deadline) })
	close(release)
	l.until("the late success is recorded", func() bool { return l.record().State == store.Completed })
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	assert.Equal(t, []int32{2}, attempts(l.history(run)), "the last attempt handed it out")
	assert.Len(t, l.effects(), 1)
}

// Somebody else is at work on the same action. Attempts are a budget: waiting must
// not spend them.
func TestWaitingForAnotherDoesNotBurnAttempts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	release := make(chan struct{})
	var asked atomic.Int64
	l.work(setup{
		options: charging(interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}), store: counting(l.store, &asked),
		workflows: map[string]any{"main": func(ctx workflow.Context, in order) (provider.Receipt, error) {
			return charge(20*time.Second, 1)(effectonce.WithTenant(ctx, "acme"), in)
		}},
		activities: map[string]any{"Charge": l.slowly(true, release)},
	})
	first := l.start("main", order{ID: 1, Cents: 5})
	l.until("the first is at work", func() bool { return len(l.bodies()) == 1 })
	second := l.start("main", order{ID: 1, Cents: 5})
	l.until("the second has asked", func() bool { return asked.Load() == 2 })
	waited := time.Now().Add(2 * time.Second) // as long as two retries would take
	l.until("a while", func() bool { return time.Now().After(waited) })
	close(release)
	assert.Equal(t, await[provider.Receipt](l, first), await[provider.Receipt](l, second))
	assert.Equal(t, []int32{1}, attempts(l.history(second)))
	assert.Len(t, l.effects(), 1)
}

// counting is a store that counts claims.
func counting(s store.Store, claims *atomic.Int64) store.Store {
	return faulty.Wrap(s, faulty.Before(faulty.Claim, faulty.Do(func() { claims.Add(1) })))
}
