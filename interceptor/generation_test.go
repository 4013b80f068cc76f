package interceptor_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
)

// A lost answer, then a refusal: the refusal speaks for its own request only.
func TestNotApplied_AfterALostAnswerWaitsForSettlingAndKeepsTheKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun()}, func(_ context.Context, run int, in chargeIn) (receipt, error) {
			switch run {
			case 1:
				return receipt{}, io.EOF // the provider did it
			case 2, 3:
				return receipt{}, effectonce.NotApplied(temporal.NewNonRetryableApplicationError("too many requests", "Busy", nil))
			}
			return receipt{"the first one", in.Cents}, nil
		})
		_, err := w.attempt(order7)
		require.ErrorContains(t, err, "EOF")

		var app *temporal.ApplicationError
		_, err = w.attempt(order7)
		require.ErrorAs(t, err, &app)
		require.Equal(t, effectonce.ErrTypeUnknown, app.Type(), "the first request may still arrive: nobody is told that nothing happened")
		require.Contains(t, errors.Unwrap(app).Error(), "too many requests")

		time.Sleep(time.Hour)
		_, err = w.attempt(order7)
		require.ErrorAs(t, err, &app)
		require.Equal(t, "Busy", app.Type())
		require.Equal(t, store.Free, w.record().State)

		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, "the first one", out.ID)
		require.Equal(t, []string{w.keys[0], w.keys[0], w.keys[0], w.keys[0]}, w.keys, "one key, so that the provider can tell")
	})
}

func TestNotApplied_AfterReconcileExcludedTheFirstRequestIsANewRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ask := func(context.Context, interceptor.Question) (interceptor.Answer, error) {
			return interceptor.NotApplied(), nil
		}
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Reconcile(ask)}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			switch run {
			case 1:
				return receipt{}, io.EOF
			case 2:
				return receipt{}, effectonce.NotApplied(errors.New("declined"))
			}
			return succeed(ctx, run, in)
		})
		_, err := w.attempt(order7)
		require.Error(t, err)
		time.Sleep(time.Hour)
		_, err = w.attempt(order7)
		require.ErrorContains(t, err, "declined")
		_, err = w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, []string{w.keys[0], w.keys[0], w.keys[0] + "-2"}, w.keys)
	})
}
