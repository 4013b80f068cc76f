package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

// The contract holds when every call goes by itself; TestStore is with the lane.
func TestStoreWithoutTheLane(t *testing.T) {
	t.Parallel()
	s, _ := open(t, postgres.Options{NoLane: true})
	storetest.Run(t, func(*testing.T) store.Store { return s })
}

// crowd makes calls that all wait for two that are held up, and lets them go.
func crowd(t *testing.T, s *postgres.Store, pool *pgxpool.Pool, n int, call func(i int)) {
	t.Helper()
	release := gate(t, pool)
	var all sync.WaitGroup
	for runner := range 2 {
		all.Go(func() { claim(t, s, request()) })
		waitForLocks(t, pool, runner+1)
	}
	for i := range n {
		all.Go(func() { call(i) })
	}
	require.Eventually(t, func() bool { return s.Queued() == n }, 10*time.Second, time.Millisecond)
	release()
	all.Wait()
}

func TestManyCallsShareOneRoundTrip(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between)
	for _, warm := range []bool{false, true} {
		held := make([]store.Claim, 100)
		before := w.written.Load()
		crowd(t, s, pool, len(held), func(i int) { held[i] = claim(t, s, request()).Claim() })
		claims := w.written.Load() - before
		before = w.written.Load()
		crowd(t, s, pool, len(held), func(i int) {
			r := report(t, s, held[i], []store.Change{
				done(fmt.Sprint(i)), {Verb: store.Fail, Outcome: done(fmt.Sprint(i)).Outcome},
				{Verb: store.Release}, {Verb: store.MarkUnknown},
			}[i%4])
			require.Equal(t, []store.State{store.Completed, store.Failed, store.Free, store.Unknown}[i%4], r.State)
		})
		reports := w.written.Load() - before
		for i, h := range held {
			got, err := s.Get(t.Context(), h.Ref)
			require.NoError(t, err)
			if got.Done() {
				require.Equal(t, fmt.Sprint(i), string(got.Outcome.Data))
			}
			require.Len(t, story(t, s, h.Ref), 2)
		}
		if warm { // two alone, and the others in one group, or two
			require.LessOrEqual(t, claims, int64(5))
			require.LessOrEqual(t, reports, int64(5))
		}
	}
}

func TestCrowdAtOneKeyHasOneWinner(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	q := request()
	var mu sync.Mutex
	fresh, won := map[store.Token]bool{}, 0
	crowd(t, s, pool, 100, func(i int) {
		q := q
		q.Token = store.NewToken()
		r, err := s.Claim(t.Context(), q)
		mu.Lock()
		defer mu.Unlock()
		require.NoError(t, err)
		require.Equal(t, store.InFlight, r.State)
		fresh[r.Token] = true
		if r.Token == q.Token {
			won++
		}
	})
	require.Len(t, fresh, 1)
	require.Equal(t, 1, won)
}

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

// Who leaves the queue has sent nothing.
func TestCallerThatLeavesTheLaneHasDoneNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	ctx, leave := context.WithCancel(t.Context())
	left := request()
	release := gate(t, pool)
	var all sync.WaitGroup
	for runner := range 2 {
		all.Go(func() { claim(t, s, request()) })
		waitForLocks(t, pool, runner+1)
	}
	gone := make(chan error, 1)
	go func() { _, err := s.Claim(ctx, left); gone <- err }()
	all.Go(func() { claim(t, s, request()) })
	require.Eventually(t, func() bool { return s.Queued() == 2 }, 10*time.Second, time.Millisecond)
	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
	release()
	all.Wait()
	s.Close()
	_, err := reopened(t, pool).Get(t.Context(), left.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// What a group finds there already: somebody else's record, a record of the same
// scheduled activity, one's own from an attempt before, and one that is free.
func TestCrowdFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	requests, before := make([]store.Request, 40), make([]store.Record, 40)
	for i := range requests {
		requests[i] = request()
		rand.Read(requests[i].Scheduled[:])
		before[i] = claim(t, s, requests[i])
		if i%4 == 3 {
			report(t, s, before[i].Claim(), store.Change{Verb: store.Release})
		}
	}
	crowd(t, s, pool, len(requests), func(i int) {
		q := requests[i]
		q.Token = store.NewToken()
		switch i % 4 {
		case 1:
			other := request()
			q.Ref, q.Fingerprint = other.Ref, other.Fingerprint
		case 2:
			q.Attempt = 2
		}
		r, err := s.Claim(t.Context(), q)
		require.NoError(t, err)
		if i%4 == 3 {
			require.Equal(t, q.Token, r.Token)
			require.EqualValues(t, 2, r.Fence)
			return
		}
		r.Now = before[i].Now
		require.Equal(t, before[i], r)
	})
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
