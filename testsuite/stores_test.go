package testsuite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// durable are the stores that outlive a process: each gives a fresh one as a URL.
var durable = map[string]func(*testing.T) string{
	"PostgreSQL": func(t *testing.T) string { return services.Postgres(t) + "&pool_max_conns=4" },
}

// opened opens a fresh durable store for a test.
func opened(t *testing.T, url string) store.Store {
	t.Helper()
	s, err := openStore(t.Context(), url)
	require.NoError(t, err)
	if c, ok := s.(interface{ Close() }); ok {
		t.Cleanup(c.Close)
	}
	return s
}

// openStore opens the store of a URL, in this process or another.
func openStore(ctx context.Context, url string) (store.Store, error) {
	if !strings.HasPrefix(url, "postgres://") {
		return nil, fmt.Errorf("no store at %q", url)
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool, postgres.Options{}); err != nil {
		return nil, err
	}
	return postgres.New(pool, postgres.Options{})
}
