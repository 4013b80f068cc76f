package stores

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/bench/ratio"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// While many actions are in flight, a page is full of claims before the first of its
// reports comes. Only a report that finds room on its page touches no index.
const (
	inFlight   = 4000
	hotActions = 40_000
)

// hot measures how many reports touch no index with 4,000 actions in flight.
func (d *database) hot(tb testing.TB) ratio.Goal {
	pool, _ := d.pool(tb, connections)
	s := newPostgres(tb, pool, postgres.Options{Schema: "hot"})
	require.NoError(tb, slidingWindow(tb.Context(), s, inFlight, hotActions))
	pool.Reset() // a session tells its statistics when it ends
	watch, _ := d.pool(tb, 1)
	updates := func(columns string) int64 {
		return number(tb, watch, "SELECT "+columns+" FROM pg_stat_user_tables WHERE schemaname = 'hot' AND relname = 'records'")
	}
	require.Eventually(tb, func() bool { return updates("n_tup_upd") >= hotActions }, 30*time.Second, 100*time.Millisecond)
	return ratio.Goal{
		What: "reports that touch no index, of all, 4,000 in flight", Bound: 0.75,
		Reached: float64(updates("n_tup_hot_upd")) / float64(updates("n_tup_upd")),
	}
}

// slidingWindow does n actions, each of which is reported when as many others as are to
// be in flight have been claimed after it.
func slidingWindow(ctx context.Context, s store.Store, inFlight, n int) error {
	const callers = 40
	problems := make(chan error, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			var open []store.Record
			complete := func() error {
				r := open[0]
				open = open[1:]
				return report(ctx, s, r)
			}
			for range n / callers {
				r, err := s.Claim(ctx, request())
				if open = append(open, r); err == nil && len(open) > inFlight/callers {
					err = complete()
				}
				if err != nil {
					problems <- err
					return
				}
			}
			for len(open) > 0 {
				if err := complete(); err != nil {
					problems <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(problems)
	return <-problems
}
