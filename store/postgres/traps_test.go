package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

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

// PostgreSQL refuses a NUL byte in text (22021) after the statement was sent; in a
// group that would take others with it.
func TestTextThatPostgresCannotHold(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{})
	for _, bad := range []string{"a\x00b", "a\xffb"} {
		for name, set := range map[string]func(*store.Request){
			"Namespace": func(q *store.Request) { q.Namespace = bad }, "ScopeKind": func(q *store.Request) { q.ScopeKind = bad },
			"ScopeID": func(q *store.Request) { q.ScopeID = bad }, "Tenant": func(q *store.Request) { q.Tenant = bad },
			"Operation": func(q *store.Request) { q.Operation = bad }, "Intent": func(q *store.Request) { q.Intent = bad },
			"WorkflowID": func(q *store.Request) { q.WorkflowID = bad }, "RunID": func(q *store.Request) { q.RunID = bad },
		} {
			q := request()
			set(&q)
			_, err := s.Claim(t.Context(), q)
			require.ErrorIs(t, err, store.ErrInvalid)
			require.ErrorContains(t, err, name)
			_, err = s.Get(t.Context(), q.Ref)
			require.ErrorIs(t, err, store.ErrNotFound)
		}
		q := request()
		q.Who = bad
		held := claim(t, s, q).Claim()
		_, err := s.Report(t.Context(), held, store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: bad}})
		require.ErrorIs(t, err, store.ErrInvalid)
		// No report may be lost over what is only told.
		c := done(bad)
		c.Why = bad
		require.Equal(t, bad, string(report(t, s, held, c).Outcome.Data))
		entries, err := s.History(t.Context(), held.Ref)
		require.NoError(t, err)
		require.Equal(t, "a\uFFFDb/a\uFFFDb", entries[0].Who+"/"+entries[1].Why)
	}
	q := request()
	q.Attempt = 1 << 40
	_, err := s.Claim(t.Context(), q)
	require.ErrorIs(t, err, store.ErrInvalid)
}

// A row that makes no sense is neither "no record" nor claimable.
func TestRowThatMakesNoSenseIsCorrupt(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	_, err := pool.Exec(t.Context(), `DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = 'effectonce.records'::regclass LOOP
			EXECUTE format('ALTER TABLE effectonce.records DROP CONSTRAINT %I', c.conname);
		END LOOP; END $$`)
	require.NoError(t, err)
	for _, set := range []string{
		"state = 'resting'", "fingerprint = 'short'", "scheduled = 'short'", "fence = 0", "generation = 0", "lease = NULL",
		"state = 'completed'", "outcome_format = 'text'", "outcome_data = 'text'", "finished = now()", "created = 'infinity'",
	} {
		q := request()
		held := claim(t, s, q).Claim()
		_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET "+set+" WHERE root = $1 AND key = $2", q.Root, q.Key[:])
		require.NoError(t, err)
		_, err = s.Get(t.Context(), q.Ref)
		require.ErrorIs(t, err, store.ErrCorrupt, set)
		require.ErrorContains(t, err, q.Key.String())
		_, err = s.Claim(t.Context(), again(q))
		require.ErrorIs(t, err, store.ErrCorrupt, set)
		_, err = s.Report(t.Context(), store.Claim{Ref: q.Ref, Token: store.NewToken(), Fence: held.Fence}, done("x"))
		require.ErrorIs(t, err, store.ErrCorrupt, set)
		_, err = pool.Exec(t.Context(), "DELETE FROM effectonce.records")
		require.NoError(t, err)
	}
}

// Record and history are one statement: without the one there is not the other.
func TestChangeWithoutItsHistoryIsNoChange(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := claim(t, s, request())
	_, err := pool.Exec(t.Context(), "ALTER TABLE effectonce.history ADD CHECK (verb <> 'complete') NOT VALID")
	require.NoError(t, err)
	c := done("secret-argument")
	c.Why = "secret-argument"
	_, err = s.Report(t.Context(), r.Claim(), c)
	var refused *pgconn.PgError
	require.True(t, errors.As(err, &refused))
	require.ErrorContains(t, err, "complete "+r.Key.String())
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
