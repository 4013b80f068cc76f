package stores

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/bench/ratio"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// BenchmarkGrowth fills package postgres by claims and reports like any others, and
// measures at 1k, 10k, … rows: the WAL of 1,000 actions right after a checkpoint,
// when the first touch of a page logs all of it; single actions; and questions
// asked again. The latter two are compared with those of a store of 1,000 rows beside
// it, measured in turn. Then it has outcomes dropped (purge_test.go), and looks at
// updates that touch no index (hot_test.go).
//
//	go test -run '^$' -bench Growth -benchtime 1x -timeout 0 ./stores -args -growth 1000000
func BenchmarkGrowth(b *testing.B) {
	d := newDatabase(b)
	pool, _ := d.pool(b, connections)
	s := newPostgres(b, pool, postgres.Options{})
	t := ratio.Table{Head: []string{
		"rows", "WAL B/action after a checkpoint, c=8", "action p50, ms, c=1", "against 1,000 rows", "replay p50, ms, c=1",
		"against 1,000 rows", "B of disk a row", "rows/s while filling, c=256",
	}}
	var firstWAL, lastWAL, action, replay float64
	rows := 0
	for size := 1000; size <= *largest; size *= 10 {
		begin, add := time.Now(), max(size-rows, 1000) // measuring adds rows, too
		done, err := fill(b.Context(), s, 256, add, request)
		require.NoError(b, err)
		filling := float64(add) / time.Since(begin).Seconds()
		disk := number(b, pool, "SELECT pg_total_relation_size('effectonce.records') + pg_total_relation_size('effectonce.history')") / int64(size)
		lastWAL = d.walAfterCheckpoint(b, pool, s)
		if size == 1000 {
			firstWAL = lastWAL
		}

		small := newPostgres(b, pool, postgres.Options{Schema: fmt.Sprintf("small_%d", size)})
		few, err := fill(b.Context(), small, 256, 1000, request)
		require.NoError(b, err)
		f := &figures{}
		ways := []way{
			{name: "small action", do: actionsOn(small)}, {name: "action", do: actionsOn(s)},
			{name: "small replay", do: askAgain(small, few)}, {name: "replay", do: askAgain(s, done)},
		}
		for round := range *rounds {
			f.round(b, round, 1, ways)
		}
		action, replay = f.ratio(p50, "action", "small action", 1), f.ratio(p50, "replay", "small replay", 1)
		t.Add(fmt.Sprint(size), ratio.Figure(lastWAL), ratio.Figure(ratio.Median(f.of("action", 1, p50))), ratio.Figure(action),
			ratio.Figure(ratio.Median(f.of("replay", 1, p50))), ratio.Figure(replay), fmt.Sprint(disk), ratio.Figure(filling))
		rows = int(number(b, pool, "SELECT count(*) FROM effectonce.records"))
		fmt.Fprintf(os.Stderr, "%d rows\n", rows)
	}
	fmt.Printf("\n%s\n\n", machine())
	t.Print(os.Stdout)
	goals := []ratio.Goal{
		{What: fmt.Sprintf("WAL of an action, %d rows / 1000 rows", *largest), Bound: 1.2, AtMost: true, Reached: lastWAL / firstWAL},
		{What: fmt.Sprintf("p50 of an action, %d rows / 1000 rows", *largest), Bound: 1.3, AtMost: true, Reached: action},
		{What: fmt.Sprintf("p50 of a replay, %d rows / 1000 rows", *largest), Bound: 1.3, AtMost: true, Reached: replay},
	}
	goals = append(goals, purge(b, s, *expired)...)
	goals = append(goals, d.hot(b))
	ratio.Goals(os.Stdout, goals)
	b.ReportMetric(0, "ns/op") // means nothing here
}

func number(tb testing.TB, pool *pgxpool.Pool, sql string) (n int64) {
	require.NoError(tb, pool.QueryRow(tb.Context(), sql).Scan(&n))
	return n
}

// walAfterCheckpoint is what an action writes when every page is touched first.
func (d *database) walAfterCheckpoint(tb testing.TB, pool *pgxpool.Pool, s store.Store) float64 {
	_, err := pool.Exec(tb.Context(), "CHECKPOINT")
	require.NoError(tb, err)
	before, err := d.wal(tb.Context())
	require.NoError(tb, err)
	_, err = fill(tb.Context(), s, 8, 1000, request)
	require.NoError(tb, err)
	after, err := d.wal(tb.Context())
	require.NoError(tb, err)
	return float64(after-before) / 1000
}

// fill does n actions, and returns about a thousand of them.
func fill(ctx context.Context, s store.Store, callers, n int, request func() store.Request) (some []store.Request, _ error) {
	var begun atomic.Int64
	var mu sync.Mutex
	var problem error
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for {
				i := int(begun.Add(1))
				if i > n {
					return
				}
				q := request()
				err := claimAndComplete(ctx, s, q)
				if err == nil && i%max(1, n/1000) != 0 {
					continue
				}
				mu.Lock()
				some = append(some, q)
				if err != nil {
					problem = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return some, problem
}
