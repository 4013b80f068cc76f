package interceptor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
)

func TestOnDecision_ThatPanicsHoldsNoAction(t *testing.T) {
	t.Parallel()
	called := 0
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed, func(o *interceptor.Options) {
		o.OnDecision = func(context.Context, interceptor.Decision) { called++; panic("no metrics today") }
	})
	out, err := w.attempt(order7)
	require.NoError(t, err)
	require.Equal(t, receipt{"a", 500}, out)
	require.Equal(t, 1, called)
}

func TestVeto_ThatPanicsLeavesTheOutcomeUnknownAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Veto: func(any) error { panic("a bug") }}, succeed)
	_, err := w.attempt(order7)
	require.ErrorContains(t, err, "a bug")
	require.Equal(t, store.Unknown, w.record().State, "nobody has to wait for the end of the lease")
}

// The SDK panics on such details, and tells Temporal nothing.
func TestFinal_WithDetailsThatCannotBeEncodedIsAFailureWithoutThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, func(context.Context, int, chargeIn) (receipt, error) {
		return receipt{}, effectonce.Final(temporal.NewNonRetryableApplicationError("account closed", "Closed", nil, make(chan int)))
	})
	for range 2 {
		_, err := w.attempt(order7)
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		require.Equal(t, "account closed", app.Message())
		require.Equal(t, "Closed", app.Type())
		require.True(t, app.NonRetryable())
	}
	require.Equal(t, 1, w.runs())
	require.Equal(t, store.Failed, w.record().State)
}
