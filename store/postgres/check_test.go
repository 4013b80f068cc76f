package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// What is wrong with the tables is said before any work begins, in both modes.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]postgres.Options{"Usual": {Schema: `We"ird`}, "Portable": {Schema: `We"ird`, Portable: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newPool(t, services.Postgres(t))
			s := newStore(t, pool, opts)
			exec := func(sql string) {
				_, err := pool.Exec(t.Context(), sql)
				require.NoError(t, err)
			}
			version := func(n string) {
				if opts.Portable {
					exec(`UPDATE "We""ird".portable_version SET version = ` + n)
				} else {
					exec(`INSERT INTO "We""ird".schema_version (version_id, is_applied) VALUES (` + n + `, true)`)
				}
			}
			require.ErrorIs(t, s.Check(t.Context()), postgres.ErrNotMigrated, "no schema")
			exec(`CREATE SCHEMA "We""ird"`)
			require.ErrorIs(t, s.Check(t.Context()), postgres.ErrNotMigrated, "an empty one")
			require.NoError(t, postgres.Migrate(t.Context(), pool, opts))
			require.NoError(t, s.Check(t.Context()))
			require.NoError(t, postgres.Migrate(t.Context(), pool, opts))

			version("99")
			err := s.Check(t.Context())
			require.ErrorIs(t, err, postgres.ErrNewerSchema)
			require.ErrorContains(t, err, "99")
			require.ErrorIs(t, postgres.Migrate(t.Context(), pool, opts), postgres.ErrNewerSchema)

			if opts.Portable {
				version("0")
			} else {
				exec(`DELETE FROM "We""ird".schema_version WHERE version_id > 0`)
			}
			require.ErrorIs(t, s.Check(t.Context()), postgres.ErrNotMigrated, "an older one")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, s.Check(ctx), context.Canceled)
		})
	}
}

func TestVersionsOfTablesAndProgram(t *testing.T) {
	t.Parallel()
	require.NoError(t, postgres.Compare(2, 2))
	require.ErrorIs(t, postgres.Compare(0, 2), postgres.ErrNotMigrated)
	require.ErrorIs(t, postgres.Compare(1, 2), postgres.ErrNotMigrated)
	require.ErrorContains(t, postgres.Compare(1, 2), "it has version 1, this program needs 2")
	require.ErrorIs(t, postgres.Compare(3, 2), postgres.ErrNewerSchema)
}

// Two modes on one schema would be two sets of records that know nothing of each other.
func TestModesAreNotMixed(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]postgres.Options{"PortableOnUsual": {}, "UsualOnPortable": portable} {
		for mode, change := range map[string]func(*pgxpool.Config){"Default": func(*pgxpool.Config) {}, "Exec": exec} {
			t.Run(name+mode, func(t *testing.T) {
				t.Parallel()
				right, pool := open(t, opts, change)
				wrongly := postgres.Options{Portable: !opts.Portable}
				require.ErrorIs(t, postgres.Migrate(t.Context(), pool, wrongly), postgres.ErrPortable)
				wrong := newStore(t, pool, wrongly)
				require.ErrorIs(t, wrong.Check(t.Context()), postgres.ErrPortable)
				require.NoError(t, right.Check(t.Context()))

				q := request()
				held := claim(t, right, q)
				for call, err := range map[string]error{
					"Claim":    second(wrong.Claim(t.Context(), again(q))),
					"TakeOver": second(wrong.TakeOver(t.Context(), again(q), held)),
					"Renew":    second(wrong.Renew(t.Context(), time.Hour, []store.Claim{held.Claim()})),
					"Report":   second(wrong.Report(t.Context(), held.Claim(), done("x"))),
					"Amend":    second(wrong.Amend(t.Context(), held, store.Change{Verb: store.Forget, Force: true, Who: "operator"})),
					"Get":      second(wrong.Get(t.Context(), q.Ref)),
					"Lookup":   second(wrong.Lookup(t.Context(), q.Key)),
					"List":     second(wrong.List(t.Context(), store.Filter{})),
					"History":  second(wrong.History(t.Context(), q.Ref)),
					"Sweep":    second(wrong.Sweep(t.Context(), 1)),
					"Expire":   second(wrong.Expire(t.Context(), 1)),
				} {
					require.ErrorContains(t, err, "Options.Portable", call)
				}
				got, err := right.Get(t.Context(), q.Ref)
				require.NoError(t, err)
				got.Now = held.Now
				require.Equal(t, held, got)
			})
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestPortableMigrateSeveralAtOnce(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"read committed", "serializable"} {
		dsn := services.Postgres(t)
		var all sync.WaitGroup
		for range 4 {
			pool := newPool(t, dsn, isolation(level))
			all.Go(func() {
				if err := postgres.Migrate(t.Context(), pool, portable); err != nil {
					t.Errorf("Migrate: %v", err)
				}
			})
		}
		all.Wait()
		require.NoError(t, newStore(t, newPool(t, dsn), portable).Check(t.Context()))
	}
}

// Tables that an operator has made beforehand, with what an engine needs.
func TestPortableMigrateTakesTablesAsTheyAre(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	q := request()
	claim(t, s, q)
	_, err := pool.Exec(t.Context(), "DROP TABLE effectonce.portable_version")
	require.NoError(t, err)
	require.ErrorIs(t, s.Check(t.Context()), postgres.ErrNotMigrated)
	require.NoError(t, postgres.Migrate(t.Context(), pool, portable))
	require.NoError(t, s.Check(t.Context()))
	_, err = s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
}
