package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// A sweep does not begin with the first record again: it goes on from the oldest that
// it left alive, and so misses nothing that becomes active later, new or not.
func TestSweepGoesOnWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	brief := request()
	brief.Lease = time.Microsecond
	sweep := func(want int) {
		t.Helper()
		n, err := s.Sweep(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	// ago makes it look as if a record became active some hours ago.
	ago := func(r store.Record, hours int) {
		_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET active_since = now() - $3 * interval '1 hour' WHERE root = $1 AND key = $2",
			r.Root, r.Key[:], hours)
		require.NoError(t, err)
	}
	alive := claim(t, s, request())
	ago(alive, 5)
	for range 3 {
		ago(claim(t, s, with(brief)), 4)
	}
	sweep(3)
	between := claim(t, s, with(brief))
	ago(between, 5) // by a clock that was a little behind, and no older than what is alive
	ago(alive, 5)
	sweep(1)

	report(t, s, alive.Claim(), done("x"))
	sweep(0)
	old := claim(t, s, with(brief))
	ago(old, 3)
	sweep(0) // nothing active is so old: it is not looked for
	var till time.Time
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT till FROM effectonce.progress WHERE task = 'sweep'").Scan(&till))
	require.WithinDuration(t, time.Now(), till, 11*time.Minute)

	// It comes to life again, and then dies.
	for name, revive := range map[string]func(store.Claim){
		"Renew": func(held store.Claim) {
			lost, err := s.Renew(t.Context(), time.Microsecond, []store.Claim{held})
			require.NoError(t, err)
			require.Empty(t, lost)
		},
		"Suspend": func(held store.Claim) {
			report(t, s, held, store.Change{Verb: store.Suspend, For: time.Microsecond})
		},
		"TakeOver": func(held store.Claim) {
			seen, err := s.Get(t.Context(), held.Ref)
			require.NoError(t, err)
			q := with(brief)
			q.Ref, q.Fingerprint, q.Attempt = seen.Ref, seen.Fingerprint, 2
			_, err = s.TakeOver(t.Context(), q, seen)
			require.NoError(t, err)
		},
		"Claim": func(held store.Claim) {
			r := report(t, s, held, store.Change{Verb: store.Release})
			q := with(brief)
			q.Ref, q.Fingerprint, q.Attempt = r.Ref, r.Fingerprint, 2
			claim(t, s, q)
		},
	} {
		r := claim(t, s, with(brief))
		sweep(1)
		ago(r, 3)
		revive(r.Claim())
		n, err := s.Sweep(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, 1, n, name)
	}
}

// with is q for another action.
func with(q store.Request) store.Request {
	other := request()
	q.Ref, q.Token, q.Fingerprint = other.Ref, other.Token, other.Fingerprint
	return q
}

// A claim that is committed late has a moment before that of one which is there
// already: the sweep that saw only the other must not begin behind it.
func TestSweepFindsWhatWasNotCommittedYet(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	brief := request()
	brief.Lease = time.Microsecond
	late := claim(t, s, with(brief))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // it is committed
	// Deleted and inserted again, it is to others as if its claim had never been committed.
	_, err = pool.Exec(t.Context(), "CREATE TABLE kept AS TABLE effectonce.records")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "DELETE FROM effectonce.records")
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "INSERT INTO effectonce.records TABLE kept")
	require.NoError(t, err)

	claim(t, s, request()) // later, and there before
	n, err := s.Sweep(t.Context(), 100)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, tx.Commit(t.Context()))
	n, err = s.Sweep(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	swept, err := s.Get(t.Context(), late.Ref)
	require.NoError(t, err)
	require.Equal(t, store.Unknown, swept.State)
}

// Two sweeps that end together are no error, whatever the database's level is.
func TestSweepsThatMeetAtRepeatableRead(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{}, isolation("repeatable read"))
	_, err := s.Sweep(t.Context(), 1)
	require.NoError(t, err)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // it is committed
	_, err = tx.Exec(t.Context(), "UPDATE effectonce.progress SET till = till")
	require.NoError(t, err)
	swept := make(chan error, 1)
	go func() {
		_, err := s.Sweep(t.Context(), 1)
		swept <- err
	}()
	somebodyWaits(t, pool)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-swept)
}

// A server whose clock was ahead has swept until a moment that has not come yet: what
// is claimed before then is found all the same.
func TestSweepFindsWhatIsClaimedAfterTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	_, err := pool.Exec(t.Context(), "INSERT INTO effectonce.progress VALUES ('sweep', now() + interval '1 hour')")
	require.NoError(t, err)
	brief := request()
	brief.Lease = time.Microsecond
	for range 2 {
		r := claim(t, s, with(brief))
		_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET active_since = now() - interval '9 minutes' WHERE key = $1", r.Key[:])
		require.NoError(t, err)
		n, err := s.Sweep(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	var till time.Time
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT till FROM effectonce.progress WHERE task = 'sweep'").Scan(&till))
	require.WithinDuration(t, time.Now(), till, 11*time.Minute)
}
