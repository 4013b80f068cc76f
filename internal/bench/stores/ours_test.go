package stores

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	driver "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/redis"
	"github.com/effectonce/effectonce/store/sqlite"
)

var result = make([]byte, 120)

const worker = "12345@worker-6f7c@support"

// request is one as a worker makes it: with everything that is kept to be read by
// people, and an ID of the run that begins with the time, as Temporal's do.
func request() store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "run", Tenant: "acme", Operation: "Refund", Attempt: 1,
		Fields: make([]byte, 40),
		Lease:  time.Hour, Remaining: time.Hour, Retention: 30 * 24 * time.Hour, Who: worker,
	}
	for _, b := range [][]byte{q.Root[:], q.Key[:], q.Fingerprint[:], q.Scheduled[:]} {
		rand.Read(b)
	}
	var now [8]byte
	binary.BigEndian.PutUint64(now[:], uint64(time.Now().UnixMilli())<<16)
	copy(q.Root[:6], now[:6])
	q.RunID = fmt.Sprintf("%x-%x-%x-%x-%x", q.Root[:4], q.Root[4:6], q.Root[6:8], q.Root[8:10], q.Root[10:])
	q.ScopeID, q.WorkflowID = q.RunID, "support-conversation-"+q.RunID[24:]
	return q
}

func claimAndComplete(ctx context.Context, s store.Store, q store.Request) error {
	r, err := s.Claim(ctx, q)
	if err != nil {
		return err
	}
	return report(ctx, s, r)
}

func report(ctx context.Context, s store.Store, r store.Record) error {
	_, err := s.Report(ctx, r.Claim(), store.Change{
		Verb: store.Complete, Outcome: &store.Outcome{Format: "payload", Data: result}, Who: worker,
	})
	return err
}

func actionsOn(s store.Store) func(context.Context, *turn) error {
	return each(func(ctx context.Context) error { return claimAndComplete(ctx, s, request()) })
}

func newPostgres(tb testing.TB, pool *pgxpool.Pool, opts postgres.Options) *postgres.Store {
	require.NoError(tb, postgres.Migrate(tb.Context(), pool, opts))
	s, err := postgres.New(pool, opts)
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	return s
}

func (d *database) lane(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	return way{
		name: "postgres", does: "package postgres, as it is by default: goroutines share commits",
		do: actionsOn(newPostgres(tb, pool, postgres.Options{Schema: "lane"})), server: d.server, trips: trips,
	}
}

func (d *database) alone(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	return way{
		name: "postgres NoLane", does: "package postgres with NoLane: each claim and report is a commit",
		do: actionsOn(newPostgres(tb, pool, postgres.Options{Schema: "alone", NoLane: true})), server: d.server, trips: trips,
	}
}

// replay asks again for actions that are done; read reads the same rows, and no
// more.
func (d *database) replay(tb testing.TB) (read, replay way) {
	pool, trips := d.pool(tb, connections)
	s := newPostgres(tb, pool, postgres.Options{Schema: "replay"})
	done, err := fill(tb.Context(), s, 64, 1000, request)
	require.NoError(tb, err)
	raw, rawTrips := d.pool(tb, connections)
	read = way{name: "SELECT", server: d.server, trips: rawTrips, do: each(func(ctx context.Context) error {
		q := done[mathrand.IntN(len(done))]
		var state string
		var data []byte
		return raw.QueryRow(ctx, "SELECT state, outcome_data FROM replay.records WHERE root = $1 AND key = $2", q.Root, q.Key[:]).
			Scan(&state, &data)
	})}
	return read, way{name: "replay", server: d.server, trips: trips, do: askAgain(s, done)}
}

// askAgain is the second attempt of actions that were completed in the first.
func askAgain(s store.Store, done []store.Request) func(context.Context, *turn) error {
	return each(func(ctx context.Context) error {
		q := done[mathrand.IntN(len(done))]
		q.Token, q.Attempt = store.NewToken(), 2
		r, err := s.Claim(ctx, q)
		if err == nil && (r.State != store.Completed || len(r.Outcome.Data) != len(result)) {
			err = fmt.Errorf("a completed action came back as %s", r.State)
		}
		return err
	})
}

func newSQLite(tb testing.TB, opts sqlite.Options) *sqlite.Store {
	s, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "records.db"), opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func sqliteGrouped(tb testing.TB) way {
	return way{
		name: "sqlite", does: "package sqlite, as it is by default: goroutines share commits",
		do: actionsOn(newSQLite(tb, sqlite.Options{})),
	}
}

func sqliteAlone(tb testing.TB) way {
	return way{
		name: "sqlite NoLane", does: "package sqlite with NoLane: each claim and report is a commit",
		do: actionsOn(newSQLite(tb, sqlite.Options{NoLane: true})),
	}
}

func newRedisWay(tb testing.TB, w way, opts redis.Options) way {
	client, server := newRedis(tb)
	s, err := redis.New(tb.Context(), client, opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	w.do, w.server = actionsOn(s), server
	return w
}

func redisLane(tb testing.TB) way {
	return newRedisWay(tb, way{
		name: "redis", does: "package redis, as it is by default: goroutines share round trips; append-only file, fsync always",
	}, redis.Options{})
}

func redisAlone(tb testing.TB) way {
	return newRedisWay(tb, way{
		name: "redis NoLane", does: "package redis with NoLane: each claim and report is a round trip, with a pool of 32; append-only file, fsync always",
	}, redis.Options{NoLane: true})
}

// newRedis connects to a private server, and has it flush every write to the disk
// before it answers. An outside server stays as it is.
func newRedis(tb testing.TB) (*driver.Client, server) {
	options, err := driver.ParseURL(services.Redis(tb))
	require.NoError(tb, err)
	options.PoolSize = connections
	client := driver.NewClient(options)
	tb.Cleanup(func() { _ = client.Close() })
	if os.Getenv("EFFECTONCE_TEST_REDIS") != "" {
		return client, server{}
	}
	for _, setting := range [][2]string{{"appendonly", "yes"}, {"appendfsync", "always"}} {
		require.NoError(tb, client.ConfigSet(tb.Context(), setting[0], setting[1]).Err())
	}
	info, err := client.InfoMap(tb.Context(), "server").Result()
	require.NoError(tb, err)
	pid, err := strconv.Atoi(info["Server"]["process_id"])
	require.NoError(tb, err)
	return client, server{pid: pid}
}
