package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// As one statement, a claim has one view of the data: most losers of a race would
// see neither their own record nor the rival's.
func TestLoserOfARaceIsToldTheRecord(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{}, func(c *pgxpool.Config) { c.MaxConns = 8 })
	for range 100 {
		q := request()
		start := make(chan struct{})
		answers := make(chan answer, 8)
		for range 8 {
			go func() {
				q := again(q)
				<-start
				r, err := s.Claim(t.Context(), q)
				if err == nil && r.Token == q.Token {
					r.Attempt = -1 // the winner
				}
				answers <- answer{r, err}
			}()
		}
		close(start)
		winners := 0
		for range 8 {
			a := <-answers
			require.NoError(t, a.err)
			require.Equal(t, q.Ref, a.Ref)
			require.Equal(t, store.InFlight, a.State)
			require.EqualValues(t, 1, a.Fence)
			if a.Attempt == -1 {
				winners++
			}
		}
		require.Equal(t, 1, winners)
	}
}

// A rival that has not committed yet, and then has not claimed after all.
func TestClaimNextToARowThatIsBeingWrittenWaitsForItsOutcome(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	q := request()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO effectonce.records
		SELECT (jsonb_populate_record(NULL::effectonce.records, to_jsonb(r) || $1)).* FROM effectonce.records r`,
		map[string]any{"root": fmt.Sprintf("%x", q.Root), "key": fmt.Sprintf(`\x%x`, q.Key[:])})
	require.NoError(t, err)
	claim(t, s, request()) // other keys are not held up
	blocked := make(chan answer, 1)
	go func() { r, err := s.Claim(t.Context(), q); blocked <- answer{r, err} }()
	claim(t, s, request())
	require.NoError(t, tx.Rollback(t.Context()))
	a := <-blocked
	require.NoError(t, a.err)
	require.Equal(t, q.Token, a.Token)
}

// With a sequence, every refused claim would use up a number.
func TestRefusedClaimsUseUpNoFence(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{})
	q := request()
	r := claim(t, s, q)
	for range 100 {
		q = again(q)
		_, err := s.Claim(t.Context(), q)
		require.NoError(t, err)
	}
	report(t, s, r.Claim(), store.Change{Verb: store.Release})
	require.EqualValues(t, 2, claim(t, s, again(q)).Fence)
}

// Record and history are one statement: without the one there is not the other.
func TestChangeWithoutItsHistoryIsNoChange(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := claim(t, s, request())
	_, err := pool.Exec(t.Context(), "ALTER TABLE effectonce.history ADD CHECK (verb <> 'release') NOT VALID")
	require.NoError(t, err)
	c := store.Change{Verb: store.Release, Why: "secret-argument"}
	_, err = s.Report(t.Context(), r.Claim(), c)
	var refused *pgconn.PgError
	require.True(t, errors.As(err, &refused))
	require.ErrorContains(t, err, "release "+r.Key.String())
	require.NotContains(t, err.Error(), "secret-argument", "an error holds an argument")
	got, err := s.Get(t.Context(), r.Ref)
	require.NoError(t, err)
	got.Now = r.Now
	require.Equal(t, r, got)
}

// The first claim is told from the record for as long as the record says it, and
// written down by whoever changes that.
func TestFirstClaimIsInTheHistoryWhateverFollows(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{})
	q := request()
	q.Who = "first"
	first := claim(t, s, q)
	want := first.Log(nil, store.Claimed, "first", "")
	check := func(n int) {
		t.Helper()
		entries, err := s.History(t.Context(), q.Ref)
		require.NoError(t, err)
		require.Len(t, entries, n)
		require.Equal(t, want, entries[0])
	}
	check(1)
	report(t, s, first.Claim(), store.Change{Verb: store.Release})
	check(2)
	q = again(q)
	q.Who, q.RunID = "second", "run-2"
	report(t, s, claim(t, s, q).Claim(), done("x"))
	check(4)
	seen, err := s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	_, err = s.Amend(t.Context(), seen, store.Change{Verb: store.Forget, Who: "operator"})
	require.NoError(t, err)
	check(5)
}

// Once its statements are prepared, a claim is sent at once and answered at once,
// won or not, and so is a report.
func TestClaimAndReportAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	var w wire
	s, _ := open(t, postgres.Options{}, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	sent := func(call func()) int64 {
		before := w.written.Load()
		call()
		return w.written.Load() - before
	}
	for range 2 {
		q := request()
		var r store.Record
		counts := []int64{
			sent(func() { r = claim(t, s, q) }),
			sent(func() { report(t, s, r.Claim(), done("x")) }),
			sent(func() { _, _ = s.Claim(t.Context(), again(q)) }),
		}
		if r.Fence == 1 && w.warm {
			require.Equal(t, []int64{1, 1, 1}, counts)
		}
		w.warm = true
	}
}
