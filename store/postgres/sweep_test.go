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
