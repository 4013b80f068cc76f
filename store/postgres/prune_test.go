package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

var old = store.Prune{Kinds: []string{"run"}, Age: time.Microsecond, Limit: 1000}

// finished is a record of a run that may be deleted at once.
func finished(t *testing.T, s *postgres.Store) store.Record {
	t.Helper()
	q := request()
	q.ScopeKind, q.Retention = "run", 1
	return report(t, s, claim(t, s, q).Claim(), done("x"))
}

// All that the store does without the right to delete, it does; and it deletes nothing.
func TestPruneNeedsTheRightToDelete(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]postgres.Options{"Usual": {}, "Portable": portable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, opts)
			r := finished(t, s)
			role := "keeper_" + name
			_, err := pool.Exec(t.Context(), "CREATE ROLE "+role+"; GRANT USAGE ON SCHEMA effectonce TO "+role+`;
				GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA effectonce TO `+role)
			require.NoError(t, err)
			t.Cleanup(func() {
				_, err := pool.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
				require.NoError(t, err)
			})
			keeper := newStore(t, newPool(t, pool.Config().ConnString(), session("SET ROLE "+role)), opts)
			n, err := keeper.Prune(t.Context(), old)
			require.ErrorContains(t, err, "permission denied")
			require.Zero(t, n)
			got, err := s.Get(t.Context(), r.Ref)
			require.NoError(t, err)
			require.Equal(t, store.Completed, got.State)
			n, err = s.Prune(t.Context(), old)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		})
	}
}

// A row that somebody is writing is neither waited for nor deleted, and what it has
// become is looked at anew.
func TestPrunePassesOverARowThatIsHeld(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{Timeout: 5 * time.Second})
	held, other := finished(t, s), finished(t, s)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "UPDATE effectonce.records SET finished = now() + interval '1 hour', version = version + 1 WHERE root = $1 AND key = $2", held.Root, held.Key[:])
	require.NoError(t, err)
	n, err := s.Prune(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = s.Get(t.Context(), other.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, tx.Commit(t.Context()))
	n, err = s.Prune(t.Context(), old)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Len(t, story(t, s, held.Ref), 2)
}

// A statement that deletes does not see what was committed after it began: the history
// of an outcome that is dropped just then must not stay behind without its record.
func TestPruneLeavesNoHistoryBehind(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{}, func(c *pgxpool.Config) { c.MaxConns = 16 })
	for range 5 {
		var working sync.WaitGroup
		for range 200 {
			working.Go(func() { finished(t, s) })
		}
		working.Wait()
		working.Go(func() {
			for n := 1; n > 0; {
				var err error
				if n, err = s.Expire(t.Context(), 10); err != nil {
					t.Errorf("Expire: %v", err)
				}
			}
		})
		for n := 1; n > 0; {
			var err error
			n, err = s.Prune(t.Context(), old)
			require.NoError(t, err)
		}
		working.Wait()
		var orphans int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM effectonce.history h
			WHERE NOT EXISTS (SELECT FROM effectonce.records r WHERE r.root = h.root AND r.key = h.key)`).Scan(&orphans))
		require.Zero(t, orphans)
	}
}

// More than one transaction deletes.
func TestPruneGoesOnInBatches(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := finished(t, s)
	_, err := pool.Exec(t.Context(), `INSERT INTO effectonce.records
		SELECT copy.* FROM (SELECT to_jsonb(r) AS one FROM effectonce.records r) AS r, generate_series(1, 12000) AS n,
			LATERAL jsonb_populate_record(NULL::effectonce.records, one || jsonb_build_object('root', lpad(to_hex(n), 32, '0'))) AS copy`)
	require.NoError(t, err)
	everything := old
	everything.Limit = 11_000
	n, err := s.Prune(t.Context(), everything)
	require.NoError(t, err)
	require.Equal(t, 11_000, n)
	n, err = s.Prune(t.Context(), everything)
	require.NoError(t, err)
	require.Equal(t, 1_001, n)
	_, err = s.Get(t.Context(), r.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// The answer that is lost may be that of the commit.
func TestPortablePruneSettlesALostAnswer(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, portable, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	for before, lost := int64(0), true; lost; before++ {
		r := finished(t, s)
		pool.Reset()
		require.NoError(t, pool.Ping(t.Context()))
		w.cutAfter(before)
		n, err := s.Prune(t.Context(), old)
		require.NoError(t, err)
		require.Equal(t, 1, n, "answer %d was lost", before)
		lost = !w.heal()
		_, err = s.Get(t.Context(), r.Ref)
		require.ErrorIs(t, err, store.ErrNotFound)
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM effectonce.history").Scan(&left))
		require.Zero(t, left)
	}
}

// One that cannot be read stays, is told, and does not keep the others.
func TestPortablePruneKeepsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	damaged, sound := finished(t, s), finished(t, s)
	_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET fingerprint = 'x' WHERE root = $1", damaged.Root)
	require.NoError(t, err)
	n, err := s.Prune(t.Context(), old)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Equal(t, 1, n)
	_, err = s.Get(t.Context(), damaged.Ref)
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = s.Get(t.Context(), sound.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}
