package testsuite_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// chargeAll makes one charge after the other.
func chargeAll(ctx workflow.Context, orders []order) ([]provider.Receipt, error) {
	receipts := make([]provider.Receipt, len(orders))
	for i, in := range orders {
		if err := workflow.ExecuteActivity(calling(ctx, 20*time.Second, 0), "Charge", in).Get(ctx, &receipts[i]); err != nil {
			return nil, err
		}
	}
	return receipts, nil
}

func activityIDs(events []*historypb.HistoryEvent) []string {
	var ids []string
	for _, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			ids = append(ids, e.GetActivityTaskScheduledEventAttributes().GetActivityId())
		}
	}
	return ids
}

// A reset gives finished steps a new run ID and new activity IDs.
func TestResetAfterCompletion(t *testing.T) {
	t.Parallel()
	orders := []order{{ID: 1, Cents: 5}, {ID: 2, Cents: 5}, {ID: 3, Cents: 5}}
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"main": chargeAll}, activities: map[string]any{"Charge": l.Charge},
			})
			run := l.start("main", orders)
			receipts := await[[]provider.Receipt](l, run)
			require.Len(t, l.effects(), 3)
			sent := l.bodies()

			toStart := l.reset(run, 1)
			assert.Equal(t, receipts, await[[]provider.Receipt](l, toStart))
			again := l.reset(toStart, 1) // a reset of the reset
			assert.Equal(t, receipts, await[[]provider.Receipt](l, again))
			halfway := l.reset(again, 2) // the first step stays in the history
			assert.Equal(t, receipts, await[[]provider.Receipt](l, halfway))

			assert.NotEqual(t, activityIDs(l.history(run)), activityIDs(l.history(again)), "the server gave new IDs")
			assert.Equal(t, results(l.history(run)), results(l.history(again)), "byte by byte")
			assert.Len(t, l.effects(), 3)
			assert.Equal(t, sent, l.bodies())
			assert.Len(t, l.records(), 3, "the keys are the same before and after")
		})
	}
}

// A reset starts a second attempt while the first one runs on: nobody stops it.
func TestResetWhileTheActivityRuns(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]int{"ScheduledAgain": 1, "KeptInFlight": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			release := make(chan struct{})
			var asked atomic.Int64
			l.work(setup{
				options: charging(interceptor.Policy{Scope: effectonce.Call, Unknown: interceptor.Hold()}), store: counting(l.store, &asked),
				activities: map[string]any{"Charge": l.slowly(true, release)},
				workflows: map[string]any{"main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
					charged := workflow.ExecuteActivity(calling(ctx, 20*time.Second, 1), "Charge", in)
					if err := workflow.Sleep(ctx, 50*time.Millisecond); err != nil { // for a second workflow task
						return r, err
					}
					return r, charged.Get(ctx, &r)
				}},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("at work", func() bool { return len(l.bodies()) == 1 })
			l.until("the second workflow task", func() bool {
				return len(slices.DeleteFunc(l.history(run), func(e *historypb.HistoryEvent) bool {
					return e.GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
				})) == 2
			})
			reset := l.reset(run, task)
			l.until("the new run asks too", func() bool { return asked.Load() == 2 })
			close(release)
			assert.Equal(t, "charge-1", await[provider.Receipt](l, reset).ID)
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1)
			assert.Equal(t, run.GetRunID(), l.record().RunID, "the old run's body did it")
		})
	}
}

// Three equal reminders in a loop are meant; a reset means none of them again.
func TestThreeEqualRemindersAndAReset(t *testing.T) {
	t.Parallel()
	reminder := order{ID: 1, Cents: 1}
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 3, effectonce.Run: 1} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"main": chargeAll}, activities: map[string]any{"Charge": l.Charge},
			})
			run := l.start("main", []order{reminder, reminder, reminder})
			receipts := await[[]provider.Receipt](l, run)
			assert.Len(t, l.effects(), effects)
			assert.Equal(t, receipts, await[[]provider.Receipt](l, l.reset(run, 1)))
			assert.Len(t, l.effects(), effects)
		})
	}
}

// A workflow that retries by hand makes a second call; it is not a second action.
func TestRetryByHandAfterALostAnswer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.behave(provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}})
	l.work(setup{
		options:    charging(interceptor.Policy{Scope: effectonce.Call, Unknown: interceptor.Reconcile(l.ask)}),
		activities: map[string]any{"Charge": l.Charge},
		workflows: map[string]any{"main": func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
			for range 3 {
				if r, err = charge(20*time.Second, 1)(ctx, in); err == nil {
					break
				}
			}
			return r, err
		}},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
	assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(run, 1)).ID)
	assert.Len(t, l.effects(), 1)
}

// Two wishes for the same thing within one run are told apart by their intent.
func TestTwoIntentsInOneRun(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
		activities: map[string]any{"Charge": l.Charge},
		workflows: map[string]any{"main": func(ctx workflow.Context, in order) error {
			for _, turn := range []string{"turn-1", "turn-1", "turn-2"} {
				if _, err := charge(20*time.Second, 1)(effectonce.WithIntent(ctx, turn), in); err != nil {
					return err
				}
			}
			return nil
		}},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	await[any](l, run)
	await[any](l, l.reset(run, 1))
	assert.Len(t, l.effects(), 2)
}
