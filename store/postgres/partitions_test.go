package postgres_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// A line of the history is in the partition of its month, and a year of them is ready.
func TestHistoryIsPartitionedByMonth(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := report(t, s, claim(t, s, request()).Claim(), store.Change{Verb: store.Release})
	var in string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT relname FROM effectonce.history JOIN pg_class c ON c.oid = history.tableoid WHERE key = $1", r.Key[:]).Scan(&in))
	require.Equal(t, r.Now.UTC().Format("history_2006_01"), in)
	require.Len(t, partitions(t, pool), 14)
	require.Contains(t, partitions(t, pool), r.Now.UTC().AddDate(1, 0, 0).Format("history_2006_01"))

	// A month that came without a partition stays where it is, and stops nobody.
	year := time.Date(r.Now.Year()+2, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := pool.Exec(t.Context(), "UPDATE effectonce.history SET at = $1", year)
	require.NoError(t, err)
	require.Equal(t, []store.Verb{store.Claimed, store.Release}, story(t, s, r.Ref))
	_, err = pool.Exec(t.Context(), "DROP TABLE effectonce."+in)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "UPDATE effectonce.history SET at = $1", r.Now)
	require.NoError(t, err)
	require.NoError(t, postgres.Migrate(t.Context(), pool, postgres.Options{}))
	require.Equal(t, []store.Verb{store.Claimed, store.Release}, story(t, s, r.Ref))
}

func TestPartitionsAreMadeOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	dsn := services.Postgres(t)
	var working sync.WaitGroup
	for range 4 {
		working.Go(func() {
			if err := postgres.Migrate(t.Context(), newPool(t, dsn), postgres.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	require.Len(t, partitions(t, newPool(t, dsn)), 14)
}

func partitions(t *testing.T, pool *pgxpool.Pool) []string {
	rows, err := pool.Query(t.Context(), "SELECT relid::regclass::text FROM pg_partition_tree('effectonce.history') WHERE isleaf")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, "effectonce.")
	}
	return names
}
