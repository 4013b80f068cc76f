package stores

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/bench/ratio"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// BenchmarkGrowth fills package postgres by claims and reports like any others, and
// measures at 1k, 10k, … rows: the WAL of 1,000 actions right after a checkpoint,
// when the first touch of a page logs all of it; single actions; and questions
// asked again.
//
//	go test -run '^$' -bench Growth -benchtime 1x -timeout 0 ./stores -args -growth 1000000
func BenchmarkGrowth(b *testing.B) {
	d := newDatabase(b)
	pool, _ := d.pool(b, connections)
	s := newPostgres(b, pool, postgres.Options{})
	t := ratio.Table{Head: []string{
		"rows", "WAL B/action after a checkpoint, c=8", "action p50, ms, c=1", "replay p50, ms, c=1",
		"B of disk a row", "rows/s while filling, c=256",
	}}
	number := func(sql string) (n int64) {
		require.NoError(b, pool.QueryRow(b.Context(), sql).Scan(&n))
		return n
	}
	rows := 0
	for size := 1000; size <= *largest; size *= 10 {
		begin, add := time.Now(), size-rows
		done, err := fill(b.Context(), s, 256, add)
		require.NoError(b, err)
		filling := float64(add) / time.Since(begin).Seconds()
		disk := number("SELECT pg_total_relation_size('effectonce.records') + pg_total_relation_size('effectonce.history')") / int64(size)

		_, err = pool.Exec(b.Context(), "CHECKPOINT")
		require.NoError(b, err)
		before, err := d.wal(b.Context())
		require.NoError(b, err)
		_, err = fill(b.Context(), s, 8, 1000)
		require.NoError(b, err)
		after, err := d.wal(b.Context())
		require.NoError(b, err)
		single, err := measure(b.Context(), way{do: actionsOn(s)}, 1, window()/2)
		require.NoError(b, err)
		again, err := measure(b.Context(), way{do: askAgain(s, done)}, 1, window()/2)
		require.NoError(b, err)
		t.Add(fmt.Sprint(size), ratio.Figure(float64(after-before)/1000), ratio.Figure(single[p50]), ratio.Figure(again[p50]),
			fmt.Sprint(disk), ratio.Figure(filling))
		rows = int(number("SELECT count(*) FROM effectonce.records"))
		fmt.Fprintf(os.Stderr, "%d rows\n", rows)
	}
	fmt.Printf("\n%s\n\n", machine())
	t.Print(os.Stdout)
	b.ReportMetric(0, "ns/op") // means nothing here
}

// fill does n actions, and returns about a thousand of them.
func fill(ctx context.Context, s store.Store, callers, n int) (some []store.Request, _ error) {
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
