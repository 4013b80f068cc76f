package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/bench/ratio"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// purgeBatch is how many outcomes are dropped in one transaction.
const purgeBatch = 5000

// purge fills n rows whose retention is over at once, and has their outcomes dropped:
// a quarter with nothing beside it, and the others beside 8 callers' actions. Those are
// timed before, too, as long as each quarter took.
func purge(b *testing.B, s *postgres.Store, n int) []ratio.Goal {
	n = max(n/4, purgeBatch) / purgeBatch * purgeBatch // a quarter, in whole batches
	_, err := fill(b.Context(), s, 256, 4*n, func() store.Request {
		q := request()
		q.Retention = time.Millisecond
		return q
	})
	require.NoError(b, err)

	took, worst, err := expire(b.Context(), s, n)
	require.NoError(b, err)
	rowsPerSecond := float64(n) / took.Seconds()
	var alone, beside []float64
	for range 3 {
		quiet, err := actionsUntil(b.Context(), s, 8, func(ctx context.Context) error {
			return pause(ctx, took)
		})
		require.NoError(b, err)
		busy, err := actionsUntil(b.Context(), s, 8, func(ctx context.Context) error {
			took, _, err = expire(ctx, s, n)
			return err
		})
		require.NoError(b, err)
		alone, beside = append(alone, at(quiet, 0.99)), append(beside, at(busy, 0.99))
	}
	slower, least, most := ratio.Of(beside, alone)
	fmt.Printf("Purge: %s rows/s in batches of %d, the worst of which took %s ms; p99 of actions beside it, c=8: %s ms instead of %s: %s (%s–%s)\n\n",
		ratio.Figure(rowsPerSecond), purgeBatch, ratio.Figure(worst.Seconds()*1e3), ratio.Figure(ratio.Median(beside)),
		ratio.Figure(ratio.Median(alone)), ratio.Figure(slower), ratio.Figure(least), ratio.Figure(most))
	return []ratio.Goal{
		{What: "purge, rows/s", Bound: 40_000, Reached: rowsPerSecond},
		{What: "purge, worst batch, ms", Bound: 150, AtMost: true, Reached: worst.Seconds() * 1e3},
		{What: "p99 of actions beside a purge / without it, c=8", Bound: 2, AtMost: true, Reached: slower},
	}
}

// expire drops the outcomes of n rows.
func expire(ctx context.Context, s store.Janitor, n int) (took, worst time.Duration, _ error) {
	begin := time.Now()
	for range n / purgeBatch {
		began := time.Now()
		dropped, err := s.Expire(ctx, purgeBatch)
		if err == nil {
			err = once(purgeBatch, int64(dropped), "expire")
		}
		if err != nil {
			return 0, 0, err
		}
		worst = max(worst, time.Since(began))
	}
	return time.Since(begin), worst, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// actionsUntil has so many callers do actions for as long as something else takes.
// The durations come sorted.
func actionsUntil(ctx context.Context, s store.Store, callers int, other func(context.Context) error) (all []time.Duration, _ error) {
	over := make(chan struct{})
	took, problems := make([][]time.Duration, callers), make([]error, callers)
	var working sync.WaitGroup
	for i := range callers {
		working.Go(func() {
			for problems[i] == nil {
				select {
				case <-over:
					return
				default:
				}
				began := time.Now()
				problems[i] = claimAndComplete(ctx, s, request())
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	err := other(ctx)
	close(over)
	working.Wait()
	all = slices.Concat(took...)
	slices.Sort(all)
	return all, errors.Join(append(problems, err)...)
}

// TestPurge purges a few rows. It says nothing about speed.
func TestPurge(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	pool, _ := d.pool(t, connections)
	s := newPostgres(t, pool, postgres.Options{})
	_, err := fill(t.Context(), s, 64, purgeBatch, func() store.Request {
		q := request()
		q.Retention = time.Millisecond
		return q
	})
	require.NoError(t, err)
	durations, err := actionsUntil(t.Context(), s, 2, func(ctx context.Context) error {
		took, worst, err := expire(ctx, s, purgeBatch)
		require.LessOrEqual(t, worst, took)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, durations)
	_, _, err = expire(t.Context(), s, purgeBatch)
	require.ErrorContains(t, err, "expire changed 0 rows instead of 5000")
}
