package postgres_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

// behind is for poolers, which do not pass notifications on. Four connections are few
// for the whole contract at once.
var behind = postgres.Options{NoNotify: true, Timeout: time.Minute}

// bounced returns a store on a database that is migrated directly and used through a
// pooler in transaction mode, by more connections than that has to the server.
func bounced(t *testing.T, opts postgres.Options, mode pgx.QueryExecMode) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	_, direct := open(t, opts)
	through := services.PgBouncer(t, direct.Config().ConnString())
	pool := newPool(t, through, func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = mode
		c.MaxConns = 16
	})
	return newStore(t, pool, opts), pool
}

// The whole contract through PgBouncer: the lane, groups, and every single statement.
func TestStoreThroughPgBouncer(t *testing.T) {
	t.Parallel()
	s, _ := bounced(t, behind, pgx.QueryExecModeExec)
	require.NoError(t, s.Check(t.Context()))
	storetest.Run(t, func(*testing.T) store.Store { return s })
}

func TestPortableThroughPgBouncer(t *testing.T) {
	t.Parallel()
	s, _ := bounced(t, portable, pgx.QueryExecModeExec)
	require.NoError(t, s.Check(t.Context()))
	require.Empty(t, busy(t, s))
}

// The query modes that the package text names, with many at once.
func TestQueryModesThroughPgBouncer(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s, _ := bounced(t, behind, mode)
			require.Empty(t, busy(t, s))
		})
	}
}

// The mode that pgx has by itself keeps prepared statements, on connections that are
// others' a moment later; and so does this one for as long as a statement takes.
func TestQueryModesThatPgBouncerBreaks(t *testing.T) {
	t.Parallel()
	for mode, code := range map[pgx.QueryExecMode]string{
		pgx.QueryExecModeCacheStatement: "42P05", // already exists
		pgx.QueryExecModeDescribeExec:   "08P01", // another's parameters
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			s, _ := bounced(t, behind, mode)
			require.Contains(t, busy(t, s), code)
		})
	}
}

// busy has many callers run actions, and returns how often which error came.
func busy(t *testing.T, s *postgres.Store) map[string]int {
	t.Helper()
	codes := make(chan string, 10_000)
	failed := func(err error) bool {
		if err == nil {
			return false
		}
		code := err.Error()
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			code = refused.Code
		}
		codes <- code
		return true
	}
	var working sync.WaitGroup
	for range 32 {
		working.Go(func() {
			for range 10 {
				r, err := s.Claim(t.Context(), request())
				if failed(err) {
					continue
				}
				lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
				if !failed(err) && len(lost) > 0 {
					codes <- "lost"
				}
				_, err = s.Report(t.Context(), r.Claim(), done("x"))
				failed(err)
				_, err = s.List(t.Context(), store.Filter{State: store.Unknown})
				failed(err)
				_, err = s.History(t.Context(), r.Ref)
				failed(err)
			}
		})
	}
	working.Wait()
	close(codes)
	counts := map[string]int{}
	for code := range codes {
		counts[code]++
	}
	return counts
}

// A transaction of the caller's own, and the outcome in it.
func TestCommitTxThroughPgBouncer(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]postgres.Options{"Usual": behind, "Portable": portable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := bounced(t, opts, pgx.QueryExecModeExec)
			_, err := pool.Exec(t.Context(), "CREATE TABLE postings (cents bigint)")
			require.NoError(t, err)
			l := ledger{t, s, pool}
			for range 20 {
				held := claim(t, l, request()).Claim()
				require.NoError(t, l.commit(held, l.post(pgx.TxOptions{})))
				require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))
			}
			require.Equal(t, 20, l.rows())
		})
	}
}

// What one client sets must not be the next one's: nothing of ours is left on a
// connection of the pooler.
func TestNothingIsLeftOnConnectionsOfPgBouncer(t *testing.T) {
	t.Parallel()
	s, pool := bounced(t, behind, pgx.QueryExecModeExec)
	settings := func() (all []string) {
		rows, err := pool.Query(t.Context(), `SELECT name || '=' || setting FROM pg_settings WHERE source = 'session' ORDER BY 1`)
		require.NoError(t, err)
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return all
	}
	before := settings()
	require.Empty(t, busy(t, s))
	everyChange(t, s)
	s.Watch(t.Context(), claim(t, s, request()).Ref)
	for range 20 {
		require.Equal(t, before, settings())
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_prepared_statements) +
			(SELECT count(*) FROM pg_listening_channels()) + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')`).Scan(&left))
		require.Zero(t, left)
	}
}

// Parameters of a connection's start are refused unless the pooler is told to ignore
// them, which it then does.
func TestMigrateThroughPgBouncer(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"Transaction": nil, "Session": {"pool_mode = session"},
		"Ignoring": {"ignore_startup_parameters = search_path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := postgres.Options{Schema: "elsewhere"} // the default one has the test user's name, and so is found
			dsn := services.Postgres(t)
			through := newPool(t, services.PgBouncer(t, dsn, settings...), exec)
			err := postgres.Migrate(t.Context(), through, opts)
			require.ErrorContains(t, err, "not through a pooler")
			direct := newPool(t, dsn)
			var tables int
			require.NoError(t, direct.QueryRow(t.Context(), `SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
				WHERE nspname IN ('public', 'elsewhere')`).Scan(&tables))
			require.Zero(t, tables, "tables in the wrong place")

			require.NoError(t, postgres.Migrate(t.Context(), direct, opts))
			require.NoError(t, postgres.Migrate(t.Context(), through, opts), "there is nothing to do")
			require.NoError(t, newStore(t, through, opts).Check(t.Context()))
		})
	}
}

func TestPortableMigrateThroughPgBouncer(t *testing.T) {
	t.Parallel()
	pool := newPool(t, services.PgBouncer(t, services.Postgres(t)), exec)
	require.NoError(t, postgres.Migrate(t.Context(), pool, portable))
	s := newStore(t, pool, portable)
	require.NoError(t, s.Check(t.Context()))
	claim(t, s, request())
}
