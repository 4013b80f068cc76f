package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

// The whole contract, with what a database, a user or a pooler may have set.
func TestStoreInOtherSessions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		opts   postgres.Options
		change func(*pgxpool.Config)
	}{
		{"SerializableWithAWeirdSchemaAndTimeZone", postgres.Options{Schema: `We"ird.{records} $1; Schéma`}, session(
			"SET default_transaction_isolation = 'serializable'", "SET timezone = 'Asia/Kathmandu'", "SET datestyle = 'German'")},
		{"RepeatableReadAndTheQueryModeForPoolers", postgres.Options{}, func(c *pgxpool.Config) {
			c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
			session("SET default_transaction_isolation = 'repeatable read'")(c)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t, tt.opts, tt.change)
			storetest.Run(t, func(*testing.T) store.Store { return s })
		})
	}
}

// At SERIALIZABLE, a refused claim fails with 40001 instead of being told of its
// rival, and even claims of different keys do.
func TestSerializableDefaultMakesNoClaimFail(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{}, session("SET default_transaction_isolation = 'serializable'"),
		func(c *pgxpool.Config) { c.MaxConns = 16 })
	var working sync.WaitGroup
	shared := make([]store.Request, 100)
	for i := range shared {
		shared[i] = request()
	}
	for range 16 {
		working.Go(func() {
			for i := range shared {
				if r, err := s.Claim(t.Context(), again(shared[i])); err != nil || r.Fence != 1 {
					t.Errorf("Claim of a shared key: fence %d, %v", r.Fence, err)
				}
				q := request()
				r, err := s.Claim(t.Context(), q)
				if isOurs(t, r, q, err) {
					_, err = s.Report(t.Context(), r.Claim(), done("x"))
					require.NoError(t, err)
				}
			}
		})
	}
	working.Wait()
}

// A crash may lose what was acknowledged under synchronous_commit = off. Each kind
// of change is looked at in its commit.
func TestEveryCommitIsSynchronousWhateverTheSessionSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ session, want string }{
		{"off", "on"}, {"local", "on"}, {"remote_write", "on"}, {"on", "on"}, {"remote_apply", "remote_apply"},
	} {
		t.Run(tt.session, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, postgres.Options{}, session("SET synchronous_commit = '"+tt.session+"'"))
			_, err := pool.Exec(t.Context(), `
				CREATE TABLE seen (verb text, setting text);
				CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					INSERT INTO seen SELECT (SELECT h.verb FROM effectonce.full_history h WHERE h.root = NEW.root AND h.key = NEW.key
						ORDER BY version DESC LIMIT 1), current_setting('synchronous_commit');
					RETURN NULL;
				END $$;
				CREATE CONSTRAINT TRIGGER look AFTER INSERT OR UPDATE ON effectonce.records
					DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()`)
			require.NoError(t, err)
			everyChange(t, s)
			rows, err := pool.Query(t.Context(), "SELECT DISTINCT verb FROM seen")
			require.NoError(t, err)
			verbs, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Len(t, verbs, 13)
			rows, err = pool.Query(t.Context(), "SELECT DISTINCT setting FROM seen")
			require.NoError(t, err)
			settings, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Equal(t, []string{tt.want}, settings)
		})
	}
}

// everyChange makes a change of every verb, and an ordinary renewal.
func everyChange(t *testing.T, s *postgres.Store) {
	for _, c := range []store.Change{
		{Verb: store.Release}, {Verb: store.NotApplied}, {Verb: store.MarkUnknown}, {Verb: store.Suspend, For: 1},
		{Verb: store.Fail, Outcome: done("x").Outcome},
	} {
		q := request()
		report(t, s, claim(t, s, q).Claim(), c)
		if c.Verb == store.MarkUnknown {
			seen, err := s.Get(t.Context(), q.Ref)
			require.NoError(t, err)
			_, err = s.TakeOver(t.Context(), again(q), seen)
			require.NoError(t, err)
		}
	}
	q := request()
	q.Retention, q.Lease, q.Remaining = 1, 1000, 1000
	held := claim(t, s, q).Claim()
	for range 2 { // the lease is over, and then it is not
		_, err := s.Renew(t.Context(), 1e9, []store.Claim{held})
		require.NoError(t, err)
	}
	report(t, s, held, done("x"))
	swept, err := s.Sweep(t.Context(), 10)
	require.NoError(t, err)
	require.NotZero(t, swept)
	expired, err := s.Expire(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, expired)
	for _, verb := range []store.Verb{store.AllowRerun, store.Forget} {
		seen, err := s.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		_, err = s.Amend(t.Context(), seen, store.Change{Verb: verb, Who: "operator"})
		require.NoError(t, err)
	}
}

// The store's own calls need no more than to read and write its tables.
func TestWorksWithoutTheRightToChangeTables(t *testing.T) {
	t.Parallel()
	_, pool := open(t, postgres.Options{})
	_, err := pool.Exec(t.Context(), `
		CREATE ROLE humble; GRANT USAGE ON SCHEMA effectonce TO humble;
		GRANT SELECT, INSERT, UPDATE ON effectonce.records TO humble;
		GRANT SELECT, INSERT ON effectonce.history TO humble;
		GRANT SELECT, INSERT, UPDATE ON effectonce.progress TO humble`)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := pool.Exec(context.Background(), "DROP OWNED BY humble; DROP ROLE humble")
		require.NoError(t, err)
	})
	everyChange(t, newStore(t, newPool(t, pool.Config().ConnString(), session("SET ROLE humble")), postgres.Options{}))
}
