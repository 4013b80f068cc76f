package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

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
