package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// BenchmarkAgainstTheFloor compares with what one would write by hand: two
// statements, each its own commit, on a table without anything that this store is
// for (no history, no index but the key). Run it with -benchtime 1x on a quiet
// machine: it goes round three times and tells medians. Only ratios within one run
// mean anything.
func BenchmarkAgainstTheFloor(b *testing.B) {
	dsn := services.Postgres(b)
	pool := newPool(b, dsn, func(c *pgxpool.Config) { c.MaxConns = 32 })
	floor := newFloor(b, pool)
	action := func(opts postgres.Options) func(context.Context) error {
		opts.Schema = fmt.Sprintf("lane_%t", !opts.NoLane)
		require.NoError(b, postgres.Migrate(b.Context(), pool, opts))
		s := newStore(b, pool, opts)
		return func(ctx context.Context) error { return claimAndComplete(ctx, s) }
	}
	ways := []struct {
		name string
		do   func(context.Context) error
	}{
		{"floor", floor.action},
		{"alone", action(postgres.Options{NoLane: true})},
		{"lane", action(postgres.Options{})},
	}
	callers := []int{1, 8, 64, 256}
	rates := map[string][]float64{}
	wal, work := map[string][]float64{}, map[string][]float64{}
	for range b.N {
		for range 3 {
			for _, c := range callers {
				for _, w := range ways {
					cell := fmt.Sprintf("%s-%d", w.name, c)
					before, spent := walPosition(b, pool), cpu(b, pool)
					n, took := runFor(b, time.Second, c, w.do)
					rates[cell] = append(rates[cell], float64(n)/took.Seconds())
					work[cell] = append(work[cell], float64((cpu(b, pool)-spent).Microseconds())/float64(n))
					wal[cell] = append(wal[cell], float64(walPosition(b, pool)-before)/float64(n))
				}
			}
		}
	}
	for _, c := range callers {
		base := median(rates[fmt.Sprintf("floor-%d", c)])
		b.Logf("c=%d: floor %.0f actions/s", c, base)
		for _, w := range ways {
			cell := fmt.Sprintf("%s-%d", w.name, c)
			b.Logf("    %-6s x%.2f  CPU %.0f us/action  WAL %.0f B/action", w.name, median(rates[cell])/base,
				median(work[cell]), median(wal[cell]))
			b.ReportMetric(median(rates[cell])/base, "x-"+cell)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func claimAndComplete(ctx context.Context, s store.Store) error {
	q := typical()
	r, err := s.Claim(ctx, q)
	if err != nil {
		return err
	}
	_, err = s.Report(ctx, r.Claim(), store.Change{
		Verb: store.Complete, Outcome: &store.Outcome{Format: "payload", Data: make([]byte, 120)}, Who: q.Who,
	})
	return err
}

// typical is a request as a worker makes it: run IDs are UUIDs of version 7, which
// begin with the time, and so do roots.
func typical() store.Request {
	q := request()
	binary.BigEndian.PutUint64(q.Root[:], uint64(time.Now().UnixMilli())<<16)
	rand.Read(q.Root[6:])
	rand.Read(q.Scheduled[:])
	q.RunID = fmt.Sprintf("%x-%x-%x-%x-%x", q.Root[:4], q.Root[4:6], q.Root[6:8], q.Root[8:10], q.Root[10:])
	q.WorkflowID, q.Who = "support-conversation-"+q.RunID[:8], "12345@worker-6f7c@support"
	q.Fields, q.Retention = make([]byte, 40), 30*24*time.Hour
	return q
}

type floor struct{ pool *pgxpool.Pool }

func newFloor(b *testing.B, pool *pgxpool.Pool) floor {
	_, err := pool.Exec(b.Context(), `CREATE TABLE floor (key text PRIMARY KEY, state smallint NOT NULL,
		owner uuid NOT NULL, lease timestamptz NOT NULL, response bytea) WITH (fillfactor = 50)`)
	require.NoError(b, err)
	return floor{pool}
}

func (f floor) action(ctx context.Context) error {
	q := typical()
	key := "default/" + q.WorkflowID + "/" + q.RunID + "/activity-7"
	tag, err := f.pool.Exec(ctx, `INSERT INTO floor VALUES ($1, 0, $2, now() + interval '30 seconds') ON CONFLICT DO NOTHING`,
		key, [16]byte(q.Token))
	if err != nil || tag.RowsAffected() != 1 {
		return fmt.Errorf("claim: %w", err)
	}
	_, err = f.pool.Exec(ctx, `UPDATE floor SET state = 1, response = $3 WHERE key = $1 AND owner = $2 AND state = 0`,
		key, [16]byte(q.Token), make([]byte, 120))
	return err
}

func runFor(b *testing.B, d time.Duration, callers int, do func(context.Context) error) (n int64, took time.Duration) {
	b.Helper()
	var done atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(begin) < d {
				if err := do(b.Context()); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	return done.Load(), time.Since(begin)
}

func walPosition(b *testing.B, pool *pgxpool.Pool) (bytes int64) {
	require.NoError(b, pool.QueryRow(b.Context(), "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&bytes))
	return bytes
}

// cpu returns the time that this process and the server have computed, which says
// more than speed on a machine that others use too. Zero for a server elsewhere.
func cpu(b *testing.B, pool *pgxpool.Pool) (spent time.Duration) {
	var pid int
	require.NoError(b, pool.QueryRow(b.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	postmaster := statOf(pid)
	if postmaster == nil {
		return 0
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(b, err)
	for _, p := range processes {
		id, _ := strconv.Atoi(filepath.Base(p))
		if stat := statOf(id); len(stat) > 12 && (id == os.Getpid() || stat[1] == postmaster[1]) {
			spent += time.Duration(stat[11]+stat[12]) * 10 * time.Millisecond // user and system, in ticks
		}
	}
	return spent
}

// statOf reads the numbers that Linux tells about a process, after its name.
func statOf(pid int) (numbers []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	for _, field := range strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) {
		n, _ := strconv.Atoi(field)
		numbers = append(numbers, n)
	}
	return numbers
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
