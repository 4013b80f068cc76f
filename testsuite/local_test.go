package testsuite_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// A workflow task fails after a local activity: its marker was never written, so
// Temporal runs the activity again, each time as attempt 1.
func TestLocalActivityBehindAFailingWorkflowTask(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			var tasks atomic.Int64
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				activities: map[string]any{"Charge": l.Charge},
				workflows: map[string]any{"main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
					if err := workflow.ExecuteLocalActivity(calling(ctx, 20*time.Second, 1), "Charge", in).Get(ctx, &r); err != nil {
						return r, err
					}
					if tasks.Add(1) <= 2 {
						panic("a bug in the workflow")
					}
					return r, nil
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
			assert.Equal(t, int64(3), tasks.Load())
			assert.Len(t, l.effects(), 1)
			assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
			assert.Len(t, l.effects(), 1)
		})
	}
}

// No key, no run: what cannot be canonicalised is never run unprotected.
func TestInputThatCannotBeCanonicalised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scope effectonce.Scope
		input any
		local bool
	}{
		"NotANumberUnderRun":   {effectonce.Run, math.NaN(), true},
		"NotANumberUnderCall":  {effectonce.Call, math.NaN(), true},
		"FloatBeyond2To53":     {effectonce.Run, map[string]any{"id": int64(9007199254740993)}, false},
		"InfinityInATenantKey": {effectonce.Tenant, math.Inf(1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			var ran atomic.Bool
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: c.scope, Unknown: interceptor.Rerun()}),
				activities: map[string]any{"Charge": func(context.Context, any) error { ran.Store(true); return nil }},
				workflows: map[string]any{"main": func(ctx workflow.Context) error {
					ctx = effectonce.WithTenant(calling(ctx, 20*time.Second, 0), "acme")
					if c.local {
						return workflow.ExecuteLocalActivity(ctx, "Charge", c.input).Get(ctx, nil)
					}
					return workflow.ExecuteActivity(ctx, "Charge", c.input).Get(ctx, nil)
				}},
			})
			err := application(t, l.ended(l.start("main"), nil))
			assert.Equal(t, effectonce.ErrTypeInput, err.Type())
			assert.True(t, err.NonRetryable())
			assert.False(t, ran.Load())
			assert.Empty(t, l.records())
		})
	}
}

// What the scope needs was not said: a deploy cures it, so the call waits for one.
func TestTenantIsMissing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()})
	stop := l.work(setup{options: options, workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge}})
	run := l.start("main", order{ID: 1, Cents: 5})
	l.until("it is refused, twice", l.attempted(run, 3))
	assert.Equal(t, effectonce.ErrTypeScope, l.lastFailure(run))
	assert.Empty(t, l.bodies())
	stop()
	l.work(setup{options: options, workflows: map[string]any{"main": chargeFor("acme")}, activities: map[string]any{"Charge": l.Charge}})
	assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID, "after the deploy and a reset")
	assert.Len(t, l.effects(), 1)
}
