package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

func TestMain(m *testing.M) { services.Main(m) }

// A pool of four, so that races are also races for connections.
func TestStore(t *testing.T) {
	s, _ := open(t, postgres.Options{})
	storetest.Run(t, func(*testing.T) store.Store { return s })
}

// open returns a store on a database of its own, and the pool of four connections
// that it uses.
func open(t testing.TB, opts postgres.Options, change ...func(*pgxpool.Config)) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool := newPool(t, services.Postgres(t), change...)
	require.NoError(t, postgres.Migrate(t.Context(), pool, opts))
	return newStore(t, pool, opts), pool
}

func newStore(t testing.TB, pool *pgxpool.Pool, opts postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.New(pool, opts)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func newPool(t testing.TB, dsn string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	config.MaxConns = 4
	for _, c := range change {
		c(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// session makes every connection of a pool begin with these statements, as a
// database's or a user's defaults would.
func session(statements ...string) func(*pgxpool.Config) {
	return func(config *pgxpool.Config) {
		config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			for _, sql := range statements {
				if _, err := c.Exec(ctx, sql); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// exec is the query mode for poolers.
func exec(config *pgxpool.Config) { config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec }
