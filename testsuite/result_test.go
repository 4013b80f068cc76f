package testsuite_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// awkward is an activity whose body has its effect and then makes trouble.
func (d *desk) awkward(then func() (any, error)) func(context.Context, order) (any, error) {
	return func(ctx context.Context, in order) (any, error) {
		if _, err := d.Charge(ctx, in); err != nil {
			return nil, err
		}
		return then()
	}
}

// A result that Temporal does not take makes it retry, for ever: the effect happened.
func TestResultThatCannotBeHandedOut(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]any{
		"NotEncodable": map[string]any{"f": func() {}},
		"TooLarge":     strings.Repeat("x", 3<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.work(setup{
				options:    charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}),
				workflows:  map[string]any{"main": charge(20*time.Second, 0)},
				activities: map[string]any{"Charge": l.awkward(func() (any, error) { return result, nil })},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			err := application(t, l.ended(run, nil))
			assert.Equal(t, effectonce.ErrTypeResultLost, err.Type())
			assert.True(t, err.NonRetryable())
			again := application(t, l.ended(l.reset(run, 1), nil))
			assert.Equal(t, effectonce.ErrTypeResultLost, again.Type())
			assert.Len(t, l.effects(), 1)
			assert.Equal(t, store.Completed, l.record().State)
		})
	}
}

func TestPanicAfterTheEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unknown func(*lab) interceptor.Unknown
		effects int
	}{
		"Hold":      {func(*lab) interceptor.Unknown { return interceptor.Hold() }, 1},
		"Reconcile": {func(l *lab) interceptor.Unknown { return interceptor.Reconcile(l.ask) }, 1},
		"Rerun":     {func(*lab) interceptor.Unknown { return interceptor.Rerun() }, 2}, // what a rerun at a deaf provider means
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			panicked := false
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: c.unknown(l)}),
				workflows: map[string]any{"main": charge(20*time.Second, 2)},
				activities: map[string]any{"Charge": l.awkward(func() (any, error) {
					if !panicked {
						panicked = true
						panic("after the effect")
					}
					return provider.Receipt{ID: "charge-2"}, nil
				})},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			err := l.ended(run, nil)
			assert.Len(t, l.effects(), c.effects)
			if name == "Hold" {
				assert.Equal(t, effectonce.ErrTypeUnknown, application(t, err).Type())
				assert.Equal(t, store.Unknown, l.record().State)
				return
			}
			assert.NoError(t, err)
			assert.Len(t, l.bodies(), c.effects)
		})
	}
}

// A failure that the body calls final is the outcome: the same for every duplicate.
func TestFinalFailureIsReplayed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.work(setup{
		options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}),
		workflows: map[string]any{"main": charge(20*time.Second, 0)},
		activities: map[string]any{"Charge": l.awkward(func() (any, error) {
			return nil, effectonce.Final(temporal.NewNonRetryableApplicationError("account closed", "Closed", nil, 7, "details"))
		})},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	first := application(t, l.ended(run, nil))
	again := application(t, l.ended(l.reset(run, 1), nil))
	for _, err := range []*temporal.ApplicationError{first, again} {
		var number int
		var text string
		assert.NoError(t, err.Details(&number, &text))
		assert.Equal(t, []any{"Closed", "account closed", true, 7, "details"}, []any{err.Type(), err.Message(), err.NonRetryable(), number, text})
	}
	assert.Len(t, l.bodies(), 1)
}

// Declined, then the card is fixed, then the workflow is reset: one charge, under a
// key that the provider has not declined before.
func TestDeclinedThenFixedThenReset(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	decline := provider.Fault{Ending: provider.EndDecline}
	l.behave(provider.Behaviour{Faults: []provider.Fault{decline}}) // honours keys: remembers the decline
	l.work(setup{
		options:   charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Reconcile(l.ask)}),
		workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, "Declined", application(t, l.ended(run, nil)).Type())
	assert.Equal(t, []int32{1}, attempts(l.history(run)), "the error is the body's own, and non-retryable")
	l.behave(provider.Behaviour{})
	reset := l.reset(run, 1)
	assert.Equal(t, "charge-1", await[provider.Receipt](l, reset).ID)
	assert.Equal(t, "charge-1", await[provider.Receipt](l, l.reset(reset, 1)).ID)
	assert.Len(t, l.effects(), 1)
	sent := l.bodies()
	assert.Equal(t, []string{sent[0], sent[0] + "-2"}, sent)
	assert.Equal(t, 2, l.record().Generation)
}
