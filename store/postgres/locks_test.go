package postgres_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// Groups of renewals that lock their rows in opposite orders would deadlock.
func TestRenewalsInAnyOrderDoNotDeadlock(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	var held []store.Claim
	for range 100 {
		held = append(held, claim(t, s, request()).Claim())
	}
	var working sync.WaitGroup
	for i := range 4 {
		mine := slices.Clone(held)
		if i%2 == 1 {
			slices.Reverse(mine)
		}
		working.Go(func() {
			for range 25 {
				if lost, err := s.Renew(t.Context(), time.Hour, mine); err != nil || len(lost) != 0 {
					t.Errorf("Renew: %d lost, %v", len(lost), err)
				}
			}
		})
	}
	working.Wait()
	var deadlocks int
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&deadlocks))
	require.Zero(t, deadlocks)
}

// One row that somebody holds must not let the leases of all others run out, and
// is not lost for being held.
func TestRenewalPassesOverARowThatIsHeld(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	first, second := claim(t, s, request()), claim(t, s, request())
	tx := hold(t, pool, first.Ref)
	lost, err := s.Renew(t.Context(), 2*time.Hour, []store.Claim{first.Claim(), second.Claim()})
	require.NoError(t, err)
	require.Empty(t, lost)
	tx()
	got, err := s.Get(t.Context(), second.Ref)
	require.NoError(t, err)
	require.Greater(t, got.Lease, second.Lease.Add(30*time.Minute))
}

// hold locks the row of ref until the test lets it go.
func hold(t *testing.T, pool *pgxpool.Pool, ref store.Ref) (letGo func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM effectonce.records WHERE root = $1 AND key = $2 FOR UPDATE", ref.Root, ref.Key[:])
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback(t.Context())) }
}

// The row that a sweep or a purge has chosen is renewed, or claimed again, before
// it is written.
func TestHousekeepingNeverTouchesWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	over := request()
	over.Lease = time.Microsecond
	kept := request()
	kept.Retention = time.Microsecond
	for what, tt := range map[string]struct {
		q    store.Request
		end  func(store.Record)
		tidy func() (int, error)
		next string
	}{
		"Sweep": {over, func(store.Record) {}, func() (int, error) { return s.Sweep(t.Context(), 10) },
			"lease = now() + interval '1 hour'"},
		"Expire": {kept, func(r store.Record) { report(t, s, r.Claim(), done("x")) }, func() (int, error) { return s.Expire(t.Context(), 10) },
			"state = 'in_flight', lease = now() + interval '1 hour', finished = NULL"},
	} {
		r := claim(t, s, tt.q)
		tt.end(r)
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "UPDATE effectonce.records SET "+tt.next+" WHERE root = $1 AND key = $2", r.Root, r.Key[:])
		require.NoError(t, err)
		n, err := tt.tidy()
		require.NoError(t, err)
		require.Zero(t, n, "%s: somebody is writing it", what)
		require.NoError(t, tx.Commit(t.Context()))
		n, err = tt.tidy()
		require.NoError(t, err)
		require.Zero(t, n, "%s: it has changed", what)
	}
}
