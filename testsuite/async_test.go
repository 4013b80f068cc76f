package testsuite_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// outside is a system that takes jobs and reports later.
type outside struct {
	jobs      chan string // handles
	completer *interceptor.Completer
}

// hire starts a worker whose Charge hands its work to an outside system.
func hire(l *lab, timeout time.Duration, maximumAttempts int32) *outside {
	l.t.Helper()
	return l.outside(charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
		map[string]any{"main": charge(timeout, maximumAttempts)})
}

func (l *lab) outside(options interceptor.Options, workflows map[string]any) *outside {
	l.t.Helper()
	o := &outside{jobs: make(chan string, 10)}
	l.work(setup{
		options:   options,
		workflows: workflows,
		activities: map[string]any{"Charge": func(ctx context.Context, _ order) (provider.Receipt, error) {
			o.jobs <- effectonce.Current(ctx).Handle()
			return provider.Receipt{}, activity.ErrResultPending
		}},
	})
	options.DataConverter = converter.GetDefaultDataConverter()
	ic, err := interceptor.New(l.store, options)
	require.NoError(l.t, err)
	o.completer = ic.Completer(l.client)
	return o
}

func (o *outside) job(t *testing.T) string {
	t.Helper()
	select {
	case handle := <-o.jobs:
		return handle
	case <-time.After(patience):
		t.Fatal("no job was handed over")
		return ""
	}
}

// handedOver waits until the hand-over is recorded.
func (l *lab) handedOver() {
	l.until("the action is pending", func() bool { r := l.records(); return len(r) == 1 && r[0].State == store.Pending })
}

func TestPendingActionIsCompletedByTheOutsideSystem(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	o := hire(l, 10*time.Second, 0)
	run := l.start("main", order{ID: 1, Cents: 5})
	handle := o.job(t)
	l.handedOver()
	for range 2 { // the outside system repeats itself
		require.NoError(t, o.completer.Complete(t.Context(), handle, provider.Receipt{ID: "by others"}))
	}
	require.Equal(t, "by others", await[provider.Receipt](l, run).ID)
	require.Empty(t, o.jobs)
	require.ErrorIs(t, o.completer.Complete(t.Context(), handle, provider.Receipt{ID: "something else"}), store.ErrLeaseLost)
}

// The attempt's time is over while the outside system is at work: the next one must
// not hand the job over again, and the old task is dead.
func TestPendingActionIsNotHandedOverAgainByARetry(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	o := hire(l, time.Second, 0)
	run := l.start("main", order{ID: 1, Cents: 5})
	handle := o.job(t)
	l.until("another attempt runs", func() bool {
		attempts := l.attemptsNow(run)
		return len(attempts) == 1 && attempts[0] > 1
	})
	require.NoError(t, o.completer.Complete(t.Context(), handle, provider.Receipt{ID: "late"}))
	require.Equal(t, "late", await[provider.Receipt](l, run).ID)
	require.Empty(t, o.jobs, "one job")
}

// A crash between the record and the task: the record is what counts.
func TestPendingActionWhoseTaskWasNeverCompletedIsReplayed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	o := hire(l, 2*time.Second, 0)
	run := l.start("main", order{ID: 1, Cents: 5})
	handle := o.job(t)
	l.handedOver()
	deaf, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: quiet})
	require.NoError(t, err)
	ic, err := interceptor.New(l.store, func() interceptor.Options {
		options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()})
		options.DataConverter = converter.GetDefaultDataConverter()
		return options
	}())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, ic.Completer(deaf).Complete(ctx, handle, provider.Receipt{ID: "recorded"}), interceptor.ErrNotToldTemporal)
	require.Equal(t, "recorded", await[provider.Receipt](l, run).ID)
	require.Empty(t, o.jobs)
}

func TestPendingActionIsFailedByTheOutsideSystem(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	o := hire(l, 10*time.Second, 0)
	run := l.start("main", order{ID: 1, Cents: 5})
	handle := o.job(t)
	l.handedOver()
	require.ErrorContains(t, o.completer.Fail(t.Context(), handle, errors.New("something")), "not marked")
	declined := temporal.NewNonRetryableApplicationError("declined", "Declined", nil)
	require.NoError(t, o.completer.Fail(t.Context(), handle, effectonce.NotApplied(declined)))
	require.Equal(t, "Declined", application(t, l.ended(run, nil)).Type())
	require.Equal(t, store.Free, l.record().State)
	require.ErrorIs(t, o.completer.Complete(t.Context(), "x", nil), interceptor.ErrHandle)
}
