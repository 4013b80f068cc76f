package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// How a record finished is told from the record for as long as the record says it,
// and written down by whoever changes that, who said it and why included.
func TestEndIsInTheHistoryWhateverFollows(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	amend := func(c store.Change) func(*testing.T, store.Record) {
		return func(t *testing.T, r store.Record) {
			c.Who = "operator"
			_, err := s.Amend(t.Context(), r, c)
			require.NoError(t, err)
		}
	}
	expire := func(t *testing.T, _ store.Record) {
		n, err := s.Expire(t.Context(), 100)
		require.NoError(t, err)
		require.NotZero(t, n)
	}
	override := done("other")
	override.Override = true
	for name, steps := range map[string][]func(*testing.T, store.Record){
		"Nothing":           {},
		"Expire":            {expire},
		"Forget":            {amend(store.Change{Verb: store.Forget})},
		"Override":          {amend(override)},
		"ExpireThenForget":  {expire, amend(store.Change{Verb: store.Forget})},
		"OverrideAndExpire": {amend(override), expire},
		"ExpireTwice":       {expire, amend(override), expire},
	} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []struct{ who, why string }{{"worker-1", ""}, {"another", "because"}, {"", ""}} {
				q := request()
				q.Retention = time.Microsecond
				c := done("x")
				c.Who, c.Why = end.who, end.why
				if end.why != "" {
					c.Verb = store.Fail
				}
				first := claim(t, s, q)
				last := report(t, s, first.Claim(), c)
				want := last.Log(&first, c.Verb, end.who, end.why)
				for i := 0; ; i++ {
					entries, err := s.History(t.Context(), q.Ref)
					require.NoError(t, err)
					require.Len(t, entries, 2+i)
					require.Equal(t, want, entries[1])
					require.Equal(t, linesOf(entries), fullHistory(t, pool, q.Ref))
					if i == len(steps) {
						break
					}
					seen, err := s.Get(t.Context(), q.Ref)
					require.NoError(t, err)
					steps[i](t, seen)
				}
			}
		})
	}
}

// fullHistory is the history as people read it by SQL.
func fullHistory(t *testing.T, pool *pgxpool.Pool, ref store.Ref) (lines []line) {
	rows, err := pool.Query(t.Context(), `SELECT at, verb, state, fence, who, why
		FROM effectonce.full_history WHERE root = $1 AND key = $2 ORDER BY version`, ref.Root, ref.Key[:])
	require.NoError(t, err)
	lines, err = pgx.CollectRows(rows, pgx.RowToStructByPos[line])
	require.NoError(t, err)
	return lines
}

type line struct {
	At          time.Time
	Verb, State string
	Fence       int64
	Who, Why    string
}

func linesOf(entries []store.Entry) (lines []line) {
	for _, e := range entries {
		lines = append(lines, line{e.At.Local(), string(e.Verb), string(e.To), e.Fence, e.Who, e.Why})
	}
	return lines
}

// Another process reports what this one has claimed, and this one what it has renewed:
// the answer is the whole record all the same, alone and in company.
func TestReportOfAClaimThatIsNotRemembered(t *testing.T) {
	t.Parallel()
	for _, opts := range []postgres.Options{{}, {NoLane: true}} {
		s, pool := open(t, opts)
		other := newStore(t, pool, opts)
		var working sync.WaitGroup
		for i := range 64 {
			working.Go(func() {
				held := claim(t, s, request()).Claim()
				reporter := s
				if i%2 == 0 {
					reporter = other
				} else if lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{held}); err != nil || len(lost) != 0 {
					t.Errorf("Renew: %d lost, %v", len(lost), err)
				}
				r := report(t, reporter, held, done("x"))
				again := report(t, reporter, held, done("x"))
				got, err := s.Get(t.Context(), held.Ref)
				require.NoError(t, err)
				require.Equal(t, r.Now, r.Finished)
				r.Now, again.Now, got.Now = time.Time{}, time.Time{}, time.Time{}
				require.Equal(t, got, r)
				require.Equal(t, got, again)
			})
		}
		working.Wait()
	}
}

// What was remembered is not what is there any more.
func TestReportOfAClaimThatSomebodyElseHasChanged(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{})
	held := claim(t, s, request()).Claim()
	seen := report(t, s, held, store.Change{Verb: store.MarkUnknown})
	_, err := s.Amend(t.Context(), seen, store.Change{Verb: store.NotApplied, Force: true, Who: "operator"})
	require.NoError(t, err)
	r := report(t, s, held, done("late"))
	require.Equal(t, 2, r.Generation)
	got, err := s.Get(t.Context(), r.Ref)
	require.NoError(t, err)
	got.Now = r.Now
	require.Equal(t, got, r)
}
