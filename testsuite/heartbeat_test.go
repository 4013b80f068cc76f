package testsuite_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// beating returns a workflow that makes one charge under a heartbeat timeout.
func beating(startToClose, heartbeat time.Duration) func(workflow.Context, order) (provider.Receipt, error) {
	return func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
		ctx = calling(ctx, startToClose, 0)
		options := workflow.GetActivityOptions(ctx)
		options.HeartbeatTimeout = heartbeat
		err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), "Charge", in).Get(ctx, &r)
		return r, err
	}
}

// A body that does not heartbeat is retried by the server while it runs on.
func TestHeartbeatTimeoutWhileTheBodyRunsOn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	release := make(chan struct{})
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()})
	options.Lease = 10 * time.Second
	var asked atomic.Int64
	l.work(setup{
		options: options, store: counting(l.store, &asked),
		workflows:  map[string]any{"main": beating(30*time.Second, time.Second)},
		activities: map[string]any{"Charge": l.slowly(true, release)},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	l.until("the second attempt has asked", func() bool { return asked.Load() == 2 })
	waited := time.Now().Add(3 * time.Second) // several heartbeat timeouts: the waiter heartbeats
	l.until("a while", func() bool { return time.Now().After(waited) })
	close(release)
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	assert.Equal(t, []int32{2}, attempts(l.history(run)), "waiting is alive")
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.bodies(), 1)
}

// The same, but the first body's lease cannot be renewed: the second attempt takes
// over, and the first one's late success counts for nothing.
func TestLateSuccessAfterATakeOverIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.behave(provider.Behaviour{}) // honours keys: that is what Rerun is for
	release := make(chan struct{})
	var mu sync.Mutex
	var decided []string
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()})
	options.OnDecision = func(_ context.Context, d interceptor.Decision) {
		mu.Lock()
		defer mu.Unlock()
		if d.Kind != "wait" {
			decided = append(decided, d.Kind)
		}
	}
	slow := l.slowly(true, release)
	returned := make(chan provider.Receipt, 1)
	l.work(setup{
		options: options, store: faulty.Wrap(l.store, faulty.Before(faulty.Renew, faulty.Fail(errDown))),
		workflows: map[string]any{"main": beating(30*time.Second, 2*time.Second)},
		activities: map[string]any{"Charge": func(ctx context.Context, in order) (provider.Receipt, error) {
			if activity.GetInfo(ctx).Attempt > 1 {
				return l.Charge(ctx, in)
			}
			receipt, err := slow(ctx, in)
			returned <- receipt
			return receipt, err
		}},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	winner := l.record()
	close(release)
	<-returned
	l.until("the first one has decided again", func() bool { mu.Lock(); defer mu.Unlock(); return len(decided) == 4 })
	assert.Equal(t, []string{"run", "take_over", "run", "replay"}, decided, "it hands out the winner's outcome")
	now := l.record()
	now.Now = winner.Now
	assert.Equal(t, winner, now, "one outcome, the second body's")
	assert.Equal(t, []int{2, 2}, []int{now.Attempt, int(now.Fence)})
	sent := l.bodies()
	assert.Equal(t, []string{sent[0], sent[0]}, sent)
	assert.Len(t, l.effects(), 1)
}

// An attempt that only waits must not wipe out what the body of an earlier one said
// about its progress.
func TestProgressHeartbeatsSurviveAWaitingAttempt(t *testing.T) {
	t.Parallel()
	for name, dc := range map[string]converter.DataConverter{"NoCodec": nil, "Encrypted": newSealing(true)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, encoding(dc))
			var down atomic.Bool
			type progress struct {
				Step string
				Item int64
			}
			resumed := make(chan progress, 1)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}),
				store:     faulty.Wrap(l.store, faulty.Before(faulty.Claim, faulty.Fail(errDown)).If(func(faulty.Call) bool { return down.Load() })),
				workflows: map[string]any{"main": beating(4*time.Second, 1500*time.Millisecond)},
				activities: map[string]any{"Charge": func(ctx context.Context, in order) (provider.Receipt, error) {
					if activity.GetInfo(ctx).Attempt == 1 {
						down.Store(true)
						activity.RecordHeartbeat(ctx, "batch", progress{"send", 1<<53 + 1})
						return provider.Receipt{}, errors.New("before the effect")
					}
					var step string
					var p progress
					if err := activity.GetHeartbeatDetails(ctx, &step, &p); err != nil {
						return provider.Receipt{}, err
					}
					resumed <- p
					return l.Charge(ctx, in)
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("the second attempt gave up", l.attempted(run, 3))
			assert.Equal(t, effectonce.ErrTypeStore, l.lastFailure(run), "it was alive until then")
			down.Store(false)
			assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
			require.Len(t, resumed, 1)
			assert.Equal(t, progress{"send", 1<<53 + 1}, <-resumed)
			assert.Len(t, l.effects(), 1)
			assert.Equal(t, store.Completed, l.record().State)
		})
	}
}
