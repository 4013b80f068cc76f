package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// Whatever a flush fails with, its jobs are done one by one. The trigger fails only
// where transactions are shared.
func TestFlushThatFailsIsDoneRowByRow(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"22021", "23505", "40001", "40P01", "54000", "55P03", "57014", "P0001"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, postgres.Options{})
			_, err := pool.Exec(t.Context(), fmt.Sprintf(`
				CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF current_setting('lock_timeout') = '100ms' THEN
						RAISE EXCEPTION 'not together' USING ERRCODE = '%s';
					END IF;
					RETURN NEW;
				END $$;
				CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON effectonce.records FOR EACH ROW EXECUTE FUNCTION fail()`, code))
			require.NoError(t, err)
			held := make([]store.Claim, 20)
			crowd(t, s, pool, len(held), func(i int) { held[i] = claim(t, s, request()).Claim() })
			crowd(t, s, pool, len(held), func(i int) { report(t, s, held[i], done("x")) })
			for _, h := range held {
				require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, s, h.Ref))
			}
		})
	}
}

// One row that the server refuses is refused alone.
func TestPoisonRowCostsItsNeighboursNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	_, err := pool.Exec(t.Context(), "ALTER TABLE effectonce.records ADD CHECK (operation <> 'poison')")
	require.NoError(t, err)
	crowd(t, s, pool, 20, func(i int) {
		q := request()
		if i != 7 {
			claim(t, s, q)
			return
		}
		q.Operation = "poison"
		_, err := s.Claim(t.Context(), q)
		require.ErrorContains(t, err, "23514")
	})
}

// A row that somebody holds holds up its own job only, however long.
func TestHeldRowHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	held := make([]store.Claim, 20)
	for i := range held {
		held[i] = claim(t, s, request()).Claim()
	}
	begin := time.Now()
	letGo := hold(t, newPool(t, pool.Config().ConnString()), held[7].Ref)
	last := make(chan struct{})
	var others sync.WaitGroup
	others.Add(len(held) - 1)
	go func() {
		defer close(last)
		crowd(t, s, pool, len(held), func(i int) {
			report(t, s, held[i], done("x"))
			if i != 7 {
				others.Done()
			}
		})
	}()
	others.Wait()
	require.Less(t, time.Since(begin), 8*time.Second) // not postgres.Options.Timeout
	select {
	case <-last:
		t.Fatal("the report on a row that is held came through")
	default:
	}
	letGo()
	<-last
}

// The answer of a flush is lost, at any moment: everybody is told what was done.
func TestLostAnswerOfAFlushIsSettled(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between)
	for before := int64(0); before < 8; before++ {
		held := make([]store.Claim, 10)
		crowd(t, s, pool, len(held), func(i int) {
			w.cutAfter(before)
			held[i] = claim(t, s, request()).Claim()
		})
		w.heal()
		crowd(t, s, pool, len(held), func(i int) {
			w.cutAfter(before)
			report(t, s, held[i], done("x"))
		})
		w.heal()
		for _, h := range held {
			require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, s, h.Ref))
		}
	}
}

// A plan that was made for an empty table is kept for long after it has grown.
func TestPlansOfAnEmptyTableDoNotScanAFullOne(t *testing.T) {
	t.Parallel()
	for name, noLane := range map[string]bool{"Lane": false, "NoLane": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, postgres.Options{NoLane: noLane})
			_, err := pool.Exec(t.Context(), "ALTER TABLE effectonce.records SET (autovacuum_enabled = false)")
			require.NoError(t, err)
			together := func(call func(i int)) {
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() { call(i) })
				}
				all.Wait()
			}
			calls := func() {
				held, q := make([]store.Claim, 20), make([]store.Request, 20)
				together(func(i int) { q[i] = request(); held[i] = claim(t, s, q[i]).Claim() })
				together(func(i int) { report(t, s, held[i], done("x")) })
				together(func(i int) {
					_, err := s.Claim(t.Context(), again(q[i]))
					require.NoError(t, err)
				})
			}
			for range 8 { // PostgreSQL settles for a plan after the fifth time
				calls()
			}
			_, err = pool.Exec(t.Context(), `INSERT INTO effectonce.records
				SELECT (jsonb_populate_record(NULL::effectonce.records, to_jsonb(r) ||
					jsonb_build_object('root', gen_random_uuid(), 'scheduled', NULL))).*
				FROM (SELECT * FROM effectonce.records LIMIT 1) r, generate_series(1, 5000)`)
			require.NoError(t, err)
			before := scans(t, pool)
			for range 8 {
				calls()
			}
			require.Equal(t, before, scans(t, pool), "the whole table was read")
		})
	}
}

// scans returns how often the whole table has been read.
func scans(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	for _, c := range pool.AcquireAllIdle(t.Context()) {
		_, err := c.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
		require.NoError(t, err)
		c.Release()
	}
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'records'`).Scan(&n))
	return n
}

// A claim that is refused at the commit was not won, and is not remembered as if it were.
func TestClaimThatIsRefusedAtTheCommitIsNotRemembered(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	_, err := pool.Exec(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'poison' USING ERRCODE = '23514';
		END $$;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON effectonce.records DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (NEW.operation = 'poison') EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	crowd(t, s, pool, 20, func(i int) {
		q := request()
		if i == 7 {
			q.Operation = "poison"
		}
		_, err := s.Claim(t.Context(), q)
		if i == 7 {
			require.ErrorContains(t, err, "23514")
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, i != 7, s.Remembers(q.Token))
	})
}

// A connection that has lost what a flush had prepared on it is replaced, and nobody
// notices.
func TestConnectionsThatForgetWhatWasPrepared(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{}, func(c *pgxpool.Config) { c.MaxConns = 3 })
	work := func() {
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				r := claim(t, s, request())
				report(t, s, r.Claim(), done("x"))
			})
		}
		all.Wait()
	}
	forget := func() (forgotten int) {
		idle := pool.AcquireAllIdle(t.Context())
		for _, c := range idle {
			rows, err := c.Query(t.Context(), "SELECT name FROM pg_prepared_statements WHERE name LIKE 'effectonce%'")
			require.NoError(t, err)
			names, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			for _, name := range names {
				_, err := c.Exec(t.Context(), "DEALLOCATE "+name)
				require.NoError(t, err)
			}
			forgotten += len(names)
		}
		for _, c := range idle {
			c.Release()
		}
		return forgotten
	}
	for range 3 {
		for tries := 0; ; tries++ {
			require.Less(t, tries, 100, "it is not prepared again")
			if work(); forget() > 0 {
				break
			}
		}
	}
}

// Two stores of different schemas share a pool: neither costs the other its connections.
func TestTwoSchemasOnOnePool(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	pool := newPool(t, services.Postgres(t), func(c *pgxpool.Config) {
		c.MaxConns = 2
		c.AfterConnect = func(context.Context, *pgx.Conn) error { opened.Add(1); return nil }
	})
	var stores []*postgres.Store
	for _, schema := range []string{"a", "b"} {
		opts := postgres.Options{Schema: schema}
		require.NoError(t, postgres.Migrate(t.Context(), pool, opts))
		stores = append(stores, newStore(t, pool, opts))
	}
	before := opened.Load()
	for range 20 {
		for _, s := range stores {
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() { report(t, s, claim(t, s, request()).Claim(), done("x")) })
			}
			all.Wait()
		}
	}
	require.LessOrEqual(t, opened.Load()-before, int32(2))
}
