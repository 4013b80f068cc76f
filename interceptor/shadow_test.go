package interceptor_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
)

func TestShadow_CountsWhatWouldBeAnsweredAndAnswersNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var kinds []string
		s := newBroken()
		p := interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}
		w := newWorldOn(t, s, p, succeed, func(o *interceptor.Options) {
			o.Shadow = true
			o.OnDecision = func(_ context.Context, d interceptor.Decision) {
				mu.Lock()
				defer mu.Unlock()
				require.True(t, d.Shadow)
				kinds = append(kinds, d.Kind)
			}
		})
		for i, want := range []receipt{{"a", 500}, {"b", 500}, {"c", 500}} {
			out, err := w.attempt(order7)
			require.NoError(t, err)
			require.Equal(t, want, out, "call %d", i)
			synctest.Wait()
		}
		require.Equal(t, []string{"run", "replay", "replay"}, kinds)
		require.Equal(t, []string{"", "", ""}, w.keys, "no key is promised downstream")
		require.True(t, strings.HasPrefix(w.record().ScopeKind, "shadow:"))
		require.Equal(t, store.Completed, w.record().State)

		enforced := newWorldOn(t, s, p, succeed)
		_, err := enforced.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, 1, enforced.runs(), "enforcing starts afresh")
	})
}

func TestShadow_NeverLetsABodyWaitForTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		s.claim = func() error { time.Sleep(time.Minute); return errDown }
		w := newWorldOn(t, s, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed, func(o *interceptor.Options) { o.Shadow = true })
		start := time.Now()
		_, err := w.attempt(order7)
		require.NoError(t, err)
		require.Less(t, time.Since(start), time.Second)
		require.Equal(t, 1, w.runs())
		time.Sleep(time.Hour) // what still waits for the store ends by itself
	})
}

func TestShadow_WhatWouldBeRefusedRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}, succeed, func(o *interceptor.Options) { o.Shadow = true })
	result(t, w.run(chargeOnce(order7, 1)))
	require.Equal(t, 1, w.runs())
	require.Empty(t, w.records())
}
