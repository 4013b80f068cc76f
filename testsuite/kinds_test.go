package testsuite_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// The SDK's own activities of a session go through the interceptor too: they must
// run, each time.
func TestSession(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()})
	options.Unlisted = interceptor.Refuse
	l.work(setup{
		options: options, activities: map[string]any{"Charge": l.Charge},
		worker: sdkworker.Options{EnableSessionWorker: true},
		workflows: map[string]any{"main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
			session, err := workflow.CreateSession(calling(ctx, 20*time.Second, 0), &workflow.SessionOptions{
				CreationTimeout: time.Minute, ExecutionTimeout: time.Minute,
			})
			if err != nil {
				return r, err
			}
			defer workflow.CompleteSession(session)
			return r, workflow.ExecuteActivity(session, "Charge", in).Get(session, &r)
		}},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.records(), 1)
}

// One function serves many types and sees undecoded arguments: types and numbers of
// arguments tell its actions apart.
func TestDynamicActivity(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run, effectonce.Namespace} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, encoding(newSealing(true)))
			var failed atomic.Bool
			p := interceptor.Policy{Scope: scope, Unknown: interceptor.Rerun()}
			l.work(setup{
				options: settled(map[string]interceptor.Policy{"Pay.A": p, "Pay.B": p}),
				more: func(w sdkworker.Worker) {
					w.RegisterDynamicActivity(func(ctx context.Context, _ converter.EncodedValues) (string, error) {
						if !failed.Swap(true) {
							return "", errDown
						}
						r, err := l.Charge(ctx, order{ID: 1, Cents: 5})
						return activity.GetInfo(ctx).ActivityType.Name + " " + r.ID, err
					}, activity.DynamicRegisterOptions{})
				},
				workflows: map[string]any{"main": func(ctx workflow.Context) (answers [3]string, err error) {
					ctx = calling(ctx, 20*time.Second, 0)
					for i, call := range [][]any{{"Pay.A", "x", 7}, {"Pay.B", "x", 7}, {"Pay.A", "x"}} {
						if err := workflow.ExecuteActivity(ctx, call[0], call[1:]...).Get(ctx, &answers[i]); err != nil {
							return answers, err
						}
					}
					return answers, nil
				}},
			})
			run := l.start("main")
			want := [3]string{"Pay.A charge-1", "Pay.B charge-2", "Pay.A charge-3"}
			assert.Equal(t, want, await[[3]string](l, run))
			assert.Equal(t, want, await[[3]string](l, l.reset(run, 1)))
			keys := l.bodies()
			slices.Sort(keys)
			assert.Len(t, slices.Compact(keys), 3)
			assert.Len(t, l.effects(), 3)
		})
	}
}

// cashier has activities as its methods.
type cashier struct{ desk *desk }

func (c *cashier) Take(ctx context.Context, in order) (provider.Receipt, error) {
	return c.desk.Charge(ctx, in)
}

// Methods of a struct, under a prefix; and the same work under another name: the
// operation says that it is the same.
func TestStructMethodsAndARenamedActivity(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	take := interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Operation: "take"}
	named := func(name string) any {
		return func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
			return r, workflow.ExecuteActivity(calling(ctx, 20*time.Second, 0), name, in).Get(ctx, &r)
		}
	}
	options := settled(map[string]interceptor.Policy{"old.Take": take, "new.Take": take})
	options.Unlisted = interceptor.Refuse
	l.work(setup{
		options: options, workflows: map[string]any{"before": named("old.Take"), "after": named("new.Take")},
		more: func(w sdkworker.Worker) {
			w.RegisterActivityWithOptions(&cashier{l.desk}, activity.RegisterOptions{Name: "old."})
			w.RegisterActivityWithOptions(&cashier{l.desk}, activity.RegisterOptions{Name: "new."})
		},
	})
	in := order{ID: 1, Cents: 5}
	receipt := await[provider.Receipt](l, l.start("before", in))
	assert.Equal(t, receipt, await[provider.Receipt](l, l.start("after", in)))
	assert.Len(t, l.effects(), 1)
	assert.Equal(t, "take", l.record().Operation)
}

// The first attempt of a call may be handed to the worker that scheduled it, together
// with the answer to its workflow task, and then knows no retry policy.
func TestEagerDispatch(t *testing.T) {
	t.Parallel()
	for _, disabled := range []bool{false, true} {
		t.Run(fmt.Sprintf("disabled=%t", disabled), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}})
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Reconcile(l.ask)}),
				workflows:  map[string]any{"main": charge(20*time.Second, 2)},
				activities: map[string]any{"Charge": l.Charge}, worker: sdkworker.Options{DisableEagerActivities: disabled},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
			assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
			assert.Len(t, l.effects(), 1)
		})
	}
}

// With few attempts nothing is spent on waiting that the last one needs.
func TestFewAttempts(t *testing.T) {
	t.Parallel()
	t.Run("TheLastOneWaitsAsLongAsItCan", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		release := make(chan struct{})
		var asked atomic.Int64
		l.work(setup{
			options: charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Wait: 100 * time.Millisecond}),
			store:   counting(l.store, &asked), worker: sdkworker.Options{DisableEagerActivities: true},
			workflows: map[string]any{"main": charge(20*time.Second, 2)}, activities: map[string]any{"Charge": l.slowly(true, release)},
		})
		owner := l.start("main", order{ID: 1, Cents: 5})
		l.until("at work", func() bool { return len(l.bodies()) == 1 })
		waiter := l.start("main", order{ID: 1, Cents: 5})
		l.until("its first attempt gave up, and its second has asked", func() bool { return asked.Load() == 3 })
		waited := time.Now().Add(time.Second) // ten times its Wait
		l.until("a while", func() bool { return time.Now().After(waited) })
		close(release)
		receipt := await[provider.Receipt](l, owner)
		assert.Equal(t, receipt, await[provider.Receipt](l, waiter))
		assert.Len(t, l.effects(), 1)
	})
	t.Run("OneAndAnUnknownOutcome", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}})
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), FailHeld: true}),
			workflows: map[string]any{"main": charge(20*time.Second, 1)}, activities: map[string]any{"Charge": l.Charge},
		})
		run := l.start("main", order{ID: 1, Cents: 5})
		assert.Equal(t, effectonce.ErrTypeUnknown, application(t, l.ended(run, nil)).Type())
		again := l.reset(run, 1)
		assert.Equal(t, effectonce.ErrTypeUnknown, application(t, l.ended(again, nil)).Type())
		l.resolve(`{"id":"charge-1"}`)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(again, 1)).ID)
		assert.Len(t, l.effects(), 1)
		assert.Len(t, l.bodies(), 1)
	})
}

// A body hangs, and heeds no context. Its lease is not renewed for ever.
func TestHungBody(t *testing.T) {
	t.Parallel()
	t.Run("RerunTakesOver", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.behave(provider.Behaviour{}) // honours keys
		hung := make(chan struct{})
		slow := l.slowly(true, hung)
		back := make(chan error, 1)
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}),
			workflows: map[string]any{"main": charge(2*time.Second, 0)},
			activities: map[string]any{"Charge": func(ctx context.Context, in order) (provider.Receipt, error) {
				if activity.GetInfo(ctx).Attempt > 1 {
					return l.Charge(ctx, in)
				}
				r, err := slow(ctx, in)
				back <- err
				return r, err
			}},
		})
		run := l.start("main", order{ID: 1, Cents: 5})
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
		close(hung)
		require.NoError(t, <-back)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
		assert.Len(t, l.effects(), 1)
		sent := l.bodies()
		assert.Equal(t, []string{sent[0], sent[0]}, sent, "one key")
		assert.Equal(t, int64(2), l.record().Fence)
	})
	t.Run("HeldUntilItComesBack", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		hung := make(chan struct{})
		l.work(setup{
			options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
			workflows:  map[string]any{"main": charge(2*time.Second, 0)},
			activities: map[string]any{"Charge": l.slowly(true, hung)},
		})
		run := l.start("main", order{ID: 1, Cents: 5})
		l.until("held", func() bool { return l.lastFailure(run) == effectonce.ErrTypeUnknown })
		assert.True(t, l.record().Uncertain())
		close(hung)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID, "a late success is a success")
		assert.Len(t, l.effects(), 1)
		assert.Len(t, l.bodies(), 1)
	})
}

// A layer that runs its workflow body from the top again makes the calls again. With
// scope Call they are further calls; in a run, or wider, they are the same actions.
func TestALayerIssuesItsCallsAgain(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 4, effectonce.Run: 2, effectonce.Chain: 2} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				activities: map[string]any{"Charge": l.Charge},
				workflows: map[string]any{"main": func(ctx workflow.Context) error {
					suspended := temporal.NewApplicationError("suspended", "Suspended")
					body := func(pass int) error {
						_, err := chargeAll(ctx, []order{{ID: 1, Cents: 5}, {ID: 2, Cents: 5}})
						if err == nil && pass == 1 {
							err = suspended
						}
						return err
					}
					if err := body(1); err != suspended { //nolint:errorlint // it is the very value
						return err
					}
					return body(2)
				}},
			})
			run := l.start("main")
			await[any](l, run)
			await[any](l, l.reset(run, 1))
			assert.Len(t, l.effects(), effects)
		})
	}
}
