package testsuite_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/sqlite"
)

// durable are the stores that outlive a process: each gives the URL of a fresh one.
var durable = map[string]func(*testing.T) string{
	"PostgreSQL": func(t *testing.T) string { return services.Postgres(t) + "&pool_max_conns=4" },
	"SQLite":     inFile,
}

func inFile(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "records.db") }

// opened opens a store for a test.
func opened(t *testing.T, url string) store.Store {
	t.Helper()
	s, closeStore, err := openStore(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, closeStore()) })
	return s
}

// openStore opens the store of a URL, in this process or another.
func openStore(ctx context.Context, url string) (store.Store, func() error, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	if err := postgres.Migrate(ctx, pool, postgres.Options{}); err != nil {
		return nil, nil, err
	}
	s, err := postgres.New(pool, postgres.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, func() error { s.Close(); pool.Close(); return nil }, nil
}
