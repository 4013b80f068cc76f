package postgres_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store/postgres"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	t.Run("SeveralAtOnce", func(t *testing.T) {
		t.Parallel()
		for _, schema := range []string{"", `Weird "Schema`} {
			dsn := services.Postgres(t)
			var all sync.WaitGroup
			for range 4 {
				pool := newPool(t, dsn)
				all.Go(func() {
					if err := postgres.Migrate(t.Context(), pool, postgres.Options{Schema: schema}); err != nil {
						t.Errorf("Migrate: %v", err)
					}
				})
			}
			all.Wait()
		}
	})

	t.Run("AgainChangesNothing", func(t *testing.T) {
		t.Parallel()
		s, pool := open(t, postgres.Options{})
		r := claim(t, s, request())
		require.NoError(t, postgres.Migrate(t.Context(), pool, postgres.Options{}))
		got, err := s.Get(t.Context(), r.Ref)
		require.NoError(t, err)
		got.Now = r.Now
		require.Equal(t, r, got)
	})

	t.Run("NewerSchemaIsRefused", func(t *testing.T) {
		t.Parallel()
		_, pool := open(t, postgres.Options{})
		_, err := pool.Exec(t.Context(), "INSERT INTO effectonce.schema_version (version_id, is_applied) VALUES (99, true)")
		require.NoError(t, err)
		err = postgres.Migrate(t.Context(), pool, postgres.Options{})
		require.ErrorIs(t, err, postgres.ErrNewerSchema)
		require.ErrorContains(t, err, "99")
	})

	t.Run("SchemasAreApart", func(t *testing.T) {
		t.Parallel()
		s, pool := open(t, postgres.Options{})
		require.NoError(t, postgres.Migrate(t.Context(), pool, postgres.Options{Schema: "second"}))
		second := newStore(t, pool, postgres.Options{Schema: "second"})
		q := request()
		claim(t, s, q)
		claim(t, second, q)
	})

	t.Run("ForgottenMigrationIsSaid", func(t *testing.T) {
		t.Parallel()
		s := newStore(t, newPool(t, services.Postgres(t)), postgres.Options{})
		_, err := s.Claim(t.Context(), request())
		require.ErrorContains(t, err, "postgres.Migrate")
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	pool := newPool(t, "postgres://nobody@127.0.0.1:1/nothing")
	for _, tt := range []struct {
		name string
		opts postgres.Options
		want string
	}{
		{"LongSchema", postgres.Options{Schema: strings.Repeat("x", 64)}, "Schema must have at most 63 bytes, got 64"},
		{"NULInSchema", postgres.Options{Schema: "a\x00b"}, `Schema must not contain a NUL byte, got "a\x00b"`},
		{"ShortTimeout", postgres.Options{Timeout: time.Millisecond}, "Timeout must be at least 100ms, got 1ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := postgres.New(pool, tt.opts)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, postgres.Migrate(t.Context(), pool, tt.opts), tt.want)
		})
	}
	_, err := postgres.New(nil, postgres.Options{})
	require.ErrorContains(t, err, "pool is nil")
}
