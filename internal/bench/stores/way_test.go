package stores

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
)

// way is one way to do an action.
type way struct {
	name   string
	does   string // for people
	do     func(context.Context, *turn) error
	server server
	trips  *atomic.Int64 // to PostgreSQL, so far
}

// server is what a way talks to.
type server struct {
	pid int // 0: none, or elsewhere
	wal func(context.Context) (int64, error)
}

// database is a PostgreSQL database of this benchmark's own, for all ways on it.
type database struct {
	dsn string
	server
}

func newDatabase(tb testing.TB) *database {
	d := &database{dsn: services.Postgres(tb)}
	pool, _ := d.pool(tb, 1)
	if *slow {
		// For sessions that begin from now on. The leader of a group of commits waits
		// for 1 ms, whether or not others are active.
		var name string
		require.NoError(tb, pool.QueryRow(tb.Context(), "SELECT current_database()").Scan(&name))
		for _, setting := range []string{"commit_delay = 1000", "commit_siblings = 0"} {
			_, err := pool.Exec(tb.Context(), "ALTER DATABASE "+name+" SET "+setting)
			require.NoError(tb, err)
		}
	}
	var pid int
	require.NoError(tb, pool.QueryRow(tb.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	if stat := statOf(pid); stat != nil {
		d.pid = stat[1]
	}
	d.wal = func(ctx context.Context) (bytes int64, err error) {
		err = pool.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&bytes)
		return bytes, err
	}
	return d
}

// connections is the size of every way's pool: the best for the floor on a fast disk.
const connections = 32

// pool opens a pool that counts round trips.
func (d *database) pool(tb testing.TB, size int) (*pgxpool.Pool, *atomic.Int64) {
	config, err := pgxpool.ParseConfig(d.dsn)
	require.NoError(tb, err)
	config.MaxConns = int32(size)
	trips := new(atomic.Int64)
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &wire{Conn: c, trips: trips}, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(tb, err)
	tb.Cleanup(pool.Close)
	return pool, trips
}

// wire counts the round trips of a connection: a request is what is written until
// something is read.
type wire struct {
	net.Conn
	trips   *atomic.Int64
	waiting atomic.Bool // for an answer
}

func (w *wire) Write(p []byte) (int, error) {
	if !w.waiting.Swap(true) {
		w.trips.Add(1)
		if *slow {
			time.Sleep(500 * time.Microsecond)
		}
	}
	return w.Conn.Write(p)
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.waiting.Store(false)
	return n, err
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// open opens the ways that the flags ask for.
func open(tb testing.TB, all []func(testing.TB) way) (ways []way) {
	names := map[string]bool{}
	for _, name := range strings.Split(*only, ",") {
		names[name] = true
	}
	for i, open := range all {
		if w := open(tb); i == 0 || *only == "" || names[w.name] {
			ways = append(ways, w)
			delete(names, w.name)
		}
	}
	delete(names, "")
	require.Empty(tb, names, "-ways names what does not exist")
	return ways
}

func all(d *database) []func(testing.TB) way {
	return []func(testing.TB) way{
		d.floor, d.naive, d.alone, d.lane, d.dbos, d.river,
		sqliteNaive, sqliteAlone, sqliteGrouped, redisNaive, redisAlone, redisLane,
	}
}

func once(want, got int64, what string) error {
	if got != want {
		return fmt.Errorf("%s changed %d rows instead of %d", what, got, want)
	}
	return nil
}
