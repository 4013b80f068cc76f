package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// expiring is a store with records whose retention is over, as of some hours ago.
type expiring struct {
	*testing.T
	*postgres.Store
	pool *pgxpool.Pool
}

func newExpiring(t *testing.T) expiring {
	s, pool := open(t, postgres.Options{})
	return expiring{t, s, pool}
}

func (e expiring) claimed() store.Record {
	e.Helper()
	q := request()
	q.Retention = time.Microsecond
	return claim(e.T, e.Store, q)
}

func (e expiring) finished(hours float64) store.Record {
	e.Helper()
	r := report(e.T, e.Store, e.claimed().Claim(), done("x"))
	e.ago(r, hours)
	return r
}

func (e expiring) ago(r store.Record, hours float64) {
	e.Helper()
	e.sql("UPDATE effectonce.records SET expires = now() - $3 * interval '1 hour' WHERE root = $1 AND key = $2", r.Root, r.Key[:], hours)
}

func (e expiring) sql(sql string, args ...any) {
	e.Helper()
	_, err := e.pool.Exec(e.Context(), sql, args...)
	require.NoError(e, err)
}

func (e expiring) expires(s *postgres.Store, limit, want int) {
	e.Helper()
	n, err := s.Expire(e.Context(), limit)
	require.NoError(e, err)
	require.Equal(e, want, n)
}

func (e expiring) till() (till time.Time) {
	e.Helper()
	require.NoError(e, e.pool.QueryRow(e.Context(), "SELECT till FROM effectonce.progress WHERE task = 'expire'").Scan(&till))
	return till
}

// another is a store that does not know how far this one has come.
func (e expiring) another() *postgres.Store { return newStore(e.T, e.pool, postgres.Options{}) }

// What has been looked at is not looked at again, by this process or another.
func TestExpireGoesOnWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	var oldest store.Record
	for i := range 10 {
		r := e.finished(float64(20 - i))
		if i == 0 {
			oldest = r
		}
	}
	e.expires(e.Store, 4, 4)
	require.WithinDuration(t, time.Now().Add(-17*time.Hour), e.till(), time.Minute, "a limit that was reached")
	e.sql("UPDATE effectonce.records SET dropped = NULL, outcome_format = 'x' WHERE key = $1", oldest.Key[:])
	e.expires(e.another(), 3, 3)
	require.WithinDuration(t, time.Now().Add(-14*time.Hour), e.till(), time.Minute)
	e.expires(e.Store, 100, 3)
	require.WithinDuration(t, time.Now().Add(-10*time.Minute), e.till(), time.Minute)
	got, err := e.Get(t.Context(), oldest.Ref)
	require.NoError(t, err)
	require.False(t, got.Expired(), "nothing looked at what is before")
}

// What was locked, or was committed late, is found the next time, although others that
// fell due later have gone.
func TestExpireFindsWhatItPassedOver(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	locked := e.finished(3)
	for range 3 {
		e.finished(2)
	}
	tx, err := e.pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it has been
	_, err = tx.Exec(t.Context(), "SELECT FROM effectonce.records WHERE key = $1 FOR UPDATE", locked.Key[:])
	require.NoError(t, err)
	e.expires(e.Store, 3, 3)
	e.expires(e.Store, 100, 0)
	require.WithinDuration(t, time.Now().Add(-3*time.Hour), e.till(), time.Minute)
	require.NoError(t, tx.Rollback(t.Context()))
	e.expires(e.Store, 100, 1)

	e.finished(0)
	e.expires(e.Store, 1, 1)
	e.finished(0.1) // fell due six minutes ago, and was not there
	e.expires(e.Store, 100, 1)
	e.finished(0.1)
	e.expires(e.another(), 100, 1)
}

// A record that is not finished costs one look, however often Expire comes by.
func TestExpireLooksOnceAtWhatIsNotFinished(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	again := func(r store.Record) (at pgtype.Timestamptz) {
		require.NoError(t, e.pool.QueryRow(t.Context(), "SELECT look_again FROM effectonce.records WHERE key = $1", r.Key[:]).Scan(&at))
		return at
	}
	open := e.claimed()
	e.ago(open, 1)
	e.expires(e.Store, 100, 0)
	require.Equal(t, pgtype.Infinity, again(open).InfinityModifier)
	require.WithinDuration(t, time.Now().Add(-10*time.Minute), e.till(), time.Minute, "it holds nothing up")
	before, err := e.Get(t.Context(), open.Ref)
	require.NoError(t, err)
	e.expires(e.another(), 100, 0)

	// Somebody who saw it before Expire did is not told that it has changed.
	c := done("x")
	c.Who = "operator"
	report(t, e.Store, before.Claim(), c)
	require.Equal(t, pgtype.Finite, again(open).InfinityModifier)
	e.expires(e.another(), 100, 1)

	// Finished late, with a retention that is still running: as long as that.
	slow := e.claimed()
	e.ago(slow, 0.1)
	e.sql("UPDATE effectonce.records SET retention = 3600000000001 WHERE key = $1", slow.Key[:])
	slow = report(t, e.Store, slow.Claim(), done("x"))
	e.expires(e.Store, 100, 0)
	require.Equal(t, slow.Finished.Add(time.Hour+time.Microsecond), again(slow).Time.UTC())
}

// A server whose clock was ahead has looked at what falls due until a moment that has not
// come yet: what falls due before then is found all the same.
func TestExpireFindsWhatFallsDueAfterTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	e.sql("INSERT INTO effectonce.progress VALUES ('expire', now() + interval '1 hour')")
	e.finished(0.1)
	e.expires(e.Store, 100, 1)
	require.WithinDuration(t, time.Now().Add(-10*time.Minute), e.till(), time.Minute)

	e.finished(0) // so that this store has come further than what falls due next
	e.expires(e.Store, 1, 1)
	e.sql("UPDATE effectonce.progress SET till = now() + interval '1 hour'")
	e.finished(0.15)
	e.expires(e.Store, 1, 1)
}

// To drop an outcome touches no index: else it would take several times as long.
func TestExpireTouchesNoIndex(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	const n = 60
	for range n {
		report(t, e.Store, e.claimed().Claim(), done("x"))
	}
	e.expires(e.Store, 2*n, n)
	var updated, hot int
	require.Eventually(t, func() bool { // the server counts when a connection has something else to do
		for _, c := range e.pool.AcquireAllIdle(t.Context()) {
			_, err := c.Exec(t.Context(), "SELECT")
			require.NoError(t, err)
			c.Release()
		}
		require.NoError(t, e.pool.QueryRow(t.Context(),
			"SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'effectonce.records'::regclass").Scan(&updated, &hot))
		return updated == 2*n
	}, 30*time.Second, 50*time.Millisecond)
	require.Greater(t, hot, 2*n-n/10)
}

// Where the next call goes on is what this one has reached, whatever it looked at then.
func TestExpireGoesOnFromTheFurthest(t *testing.T) {
	t.Parallel()
	e := newExpiring(t)
	for _, hours := range []float64{3, 2} {
		for range 2 {
			e.ago(e.claimed(), hours)
		}
		e.sql("UPDATE effectonce.progress SET till = now() - interval '5 hours'")
		e.expires(e.Store, 2, 0)
		require.WithinDuration(t, time.Now().Add(-time.Duration(hours)*time.Hour), e.ExpiredTo(), time.Minute)
	}
}
