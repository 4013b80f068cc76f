package dynamodb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRecentForgetsWhatWasUsedLongestAgo(t *testing.T) {
	t.Parallel()
	r := newRecent[string, int](3)
	for i, k := range []string{"a", "b", "c"} {
		require.Equal(t, i, r.first(k, i))
	}
	require.Equal(t, 0, r.first("a", 9), "the first value stays")
	r.put("d", 3) // b goes
	_, ok := r.get("b")
	require.False(t, ok)
	r.retire("d")
	r.put("e", 4) // d goes, although it was used after c
	for k, want := range map[string]bool{"a": true, "c": true, "d": false, "e": true} {
		_, ok := r.get(k)
		require.Equal(t, want, ok, k)
	}
	r.put("a", 7)
	v, _ := r.get("a")
	require.Equal(t, 7, v)
	r.drop("a")
	r.drop("a")
	_, ok = r.get("a")
	require.False(t, ok)
	require.Len(t, r.of, r.order.Len())
}

// The clock does not go back, whatever is done to that of the host: it has the
// monotonic reading of the moment it began.
func TestSteadyClockGoesOnByTheMonotonicOne(t *testing.T) {
	t.Parallel()
	clock := steady()
	last := clock()
	require.WithinDuration(t, time.Now(), last, time.Second)
	require.Contains(t, last.String(), " m=+", "no monotonic reading")
	require.GreaterOrEqual(t, clock().Sub(last), time.Duration(0))
}
