package outlive_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/outlive"
)

type valueKey struct{}

func TestOfOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		callers := outlive.New(32 * time.Second)
		caller, leave := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "theirs"))
		ctx := callers.Of(caller)
		leave()
		require.NoError(t, ctx.Err())
		require.Equal(t, "theirs", ctx.Value(valueKey{}))

		time.Sleep(time.Second) // the last moment at which the timer is shared
		later := callers.Of(t.Context())
		require.Equal(t, ctx.Done(), later.Done())
		time.Sleep(time.Millisecond)
		another := callers.Of(t.Context())
		require.NotEqual(t, ctx.Done(), another.Done())

		time.Sleep(32*time.Second - 2*time.Millisecond)
		require.NoError(t, later.Err(), "a timeout is not cut short")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		require.ErrorIs(t, later.Err(), context.DeadlineExceeded)
		require.NoError(t, another.Err())
	})
}

// What is made from such a context ends with it, and needs no goroutine to do so.
func TestOfHasChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := outlive.New(time.Second).Of(t.Context())
		before := runtime.NumGoroutine()
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		require.Equal(t, before, runtime.NumGoroutine())
		<-child.Done()
		require.ErrorIs(t, child.Err(), context.DeadlineExceeded)
	})
}

// What was made by one clock is not handed out by another that is behind.
func TestOfAnotherClock(t *testing.T) {
	callers := outlive.New(time.Second)
	outside := callers.Context()
	synctest.Test(t, func(t *testing.T) {
		inside := callers.Context() // of the year 2000
		<-inside.Done()
		require.NotEqual(t, outside.Done(), inside.Done())
	})
}
