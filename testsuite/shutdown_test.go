package testsuite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// stopped has its effect, and returns once its context is done: with its result, or
// with the context's error.
func (d *desk) stopped(fails bool, causes chan<- error) func(context.Context, order) (provider.Receipt, error) {
	return func(ctx context.Context, in order) (provider.Receipt, error) {
		receipt, err := d.Charge(ctx, in)
		if err != nil {
			return receipt, err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		if fails {
			return provider.Receipt{}, ctx.Err()
		}
		return receipt, nil
	}
}

// A worker is stopped, and its grace time is over before the body is.
func TestGracefulShutdownCancelsTheBody(t *testing.T) {
	t.Parallel()
	in := order{ID: 1, Cents: 5}
	for name, c := range map[string]struct {
		fails   bool
		unknown func(*lab) interceptor.Unknown
		bodies  int // of the second worker
	}{
		"SuccessIsASuccess":             {false, func(*lab) interceptor.Unknown { return interceptor.Hold() }, 0},
		"ErrorIsUnknown/Hold":           {true, func(*lab) interceptor.Unknown { return interceptor.Hold() }, 0},
		"ErrorIsUnknown/Reconcile":      {true, func(l *lab) interceptor.Unknown { return interceptor.Reconcile(l.ask) }, 0},
		"ErrorIsUnknown/RerunRunsAgain": {true, func(*lab) interceptor.Unknown { return interceptor.Rerun() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.behave(provider.Behaviour{}) // honours keys
			options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: c.unknown(l)})
			causes := make(chan error, 1)
			l.work(setup{options: options, workflows: map[string]any{"main": charge(20*time.Second, 0)}, worker: workflowsOnly})
			stop := l.work(setup{
				options: options, activities: map[string]any{"Charge": l.stopped(c.fails, causes)},
				worker: sdkworker.Options{DisableWorkflowWorker: true, WorkerStopTimeout: 50 * time.Millisecond},
			})
			run := l.start("main", in)
			l.until("the effect", func() bool { return len(l.effects()) == 1 })
			stop()
			assert.ErrorIs(t, <-causes, sdkworker.ErrWorkerShutdown)
			l.until("the outcome is recorded", func() bool { return l.record().State != store.InFlight })
			switch {
			case !c.fails:
				assert.Equal(t, store.Completed, l.record().State)
			case c.bodies == 0:
				assert.Equal(t, store.Unknown, l.record().State, "neither failed nor cancelled")
			}
			l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}, worker: activitiesOnly})
			if name == "ErrorIsUnknown/Hold" {
				l.until("held", func() bool { return l.lastFailure(run) == effectonce.ErrTypeUnknown })
				l.resolve(`{"id":"charge-1"}`)
			}
			assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
			assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1+c.bodies)
		})
	}
}
