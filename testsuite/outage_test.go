package testsuite_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

var errDown = errors.New("dial tcp 10.0.0.1:5432: connection refused")

// Without the store nobody knows whether the action was done: nothing runs.
func TestStoreDownAtTheClaim(t *testing.T) {
	t.Parallel()
	t.Run("Shortly", func(t *testing.T) { // waited for within the attempt
		t.Parallel()
		l := newLab(t)
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
			store:     faulty.Wrap(l.store, faulty.Before(faulty.Claim, faulty.Fail(errDown)).Times(5)),
			workflows: map[string]any{"main": charge(20*time.Second, 1)}, activities: map[string]any{"Charge": l.Charge},
		})
		run := l.start("main", order{ID: 1, Cents: 5})
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
		assert.Equal(t, []int32{1}, attempts(l.history(run)))
		assert.Len(t, l.bodies(), 1)
	})
	t.Run("ForLong", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		var back atomic.Bool
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
			store:     faulty.Wrap(l.store, faulty.Before(faulty.Claim, faulty.Fail(errDown)).If(func(faulty.Call) bool { return !back.Load() })),
			workflows: map[string]any{"main": charge(2*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
		})
		run := l.start("main", order{ID: 1, Cents: 5})
		l.until("the next attempt", func() bool { return l.lastFailure(run) == effectonce.ErrTypeStore })
		assert.Empty(t, l.bodies(), "the body does not run")
		assert.Empty(t, l.records())
		back.Store(true)
		assert.Equal(t, "charge-1", await[provider.Receipt](l, run).ID)
		assert.Len(t, l.effects(), 1)
	})
	t.Run("AnswerLost", func(t *testing.T) { // claimed, but the attempt does not know
		t.Parallel()
		l := newLab(t)
		l.work(setup{
			options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
			store:     faulty.Wrap(l.store, faulty.After(faulty.Claim, faulty.Fail(errDown)).Once(), faulty.After(faulty.Report, faulty.Fail(errDown)).Once()),
			workflows: map[string]any{"main": charge(20*time.Second, 1)}, activities: map[string]any{"Charge": l.Charge},
		})
		assert.Equal(t, "charge-1", await[provider.Receipt](l, l.start("main", order{ID: 1, Cents: 5})).ID)
		assert.Len(t, l.effects(), 1)
		assert.Equal(t, int64(1), l.record().Fence)
	})
}

// The effect happened and cannot be written down: that is unknown, never a success,
// and never a reason to run again.
func TestStoreDownAtTheRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()})
	options.RecordTimeout = time.Second
	l.work(setup{
		options: options, store: faulty.Wrap(l.store, faulty.Before(faulty.Report, faulty.Fail(errDown))),
		workflows: map[string]any{"main": charge(20*time.Second, 3)}, activities: map[string]any{"Charge": l.Charge},
	})
	err := application(t, l.ended(l.start("main", order{ID: 1, Cents: 5}), nil))
	assert.Equal(t, effectonce.ErrTypeUnknown, err.Type())
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.bodies(), 1)
	assert.True(t, l.record().Uncertain())
}

// A record that is there but cannot be read is not "no record".
func TestCorruptRecord(t *testing.T) {
	t.Parallel()
	damage := map[string]store.Outcome{
		"Bytes":   {Format: outcome.Result, Data: []byte("\xff\xff damaged"), Context: []byte(`{}`)},
		"Context": {Format: outcome.Result, Data: []byte{0x0a, 0x00}, Context: []byte("damaged")},
		"Format":  {Format: "temporal/result/99", Data: []byte("x"), Context: []byte(`{}`)},
	}
	for name, o := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
			})
			receipt := await[provider.Receipt](l, l.start("main", order{ID: 1, Cents: 5}))
			good := l.record()
			_, err := l.store.Amend(t.Context(), good, store.Change{Verb: store.Complete, Outcome: &o, Override: true, Who: "test"})
			assert.NoError(t, err)
			run := l.start("main", order{ID: 1, Cents: 5})
			l.until("it is refused, twice", l.attempted(run, 3))
			assert.Equal(t, effectonce.ErrTypeRecord, l.lastFailure(run))
			// It is retried, because it can be repaired.
			_, err = l.store.Amend(t.Context(), l.record(), store.Change{Verb: store.Complete, Outcome: good.Outcome, Override: true, Who: "test"})
			assert.NoError(t, err)
			assert.Equal(t, receipt, await[provider.Receipt](l, run))
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1)
		})
	}
}
