package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// The answer is lost on its way back: what was asked for has been done, and a plain
// repetition would lose to itself. Every answer of a call is lost once, on a new
// connection each time.
func TestLostAnswerIsSettled(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	claimed := func(t *testing.T) store.Claim { return claim(t, s, request()).Claim() }
	cases := []struct {
		name string
		// make prepares a call, and the call returns the record's history as it must be.
		make func(t *testing.T) (call func(), ref store.Ref, want []store.Verb)
	}{
		{"Claim", func(t *testing.T) (func(), store.Ref, []store.Verb) {
			q := request()
			return func() { require.EqualValues(t, 1, claim(t, s, q).Fence) }, q.Ref, []store.Verb{store.Claimed}
		}},
		{"ClaimOfAFreeRecord", func(t *testing.T) (func(), store.Ref, []store.Verb) {
			q := request()
			report(t, s, claim(t, s, q).Claim(), store.Change{Verb: store.Release})
			q = again(q)
			return func() { require.EqualValues(t, 2, claim(t, s, q).Fence) }, q.Ref,
				[]store.Verb{store.Claimed, store.Release, store.Claimed}
		}},
		{"TakeOver", func(t *testing.T) (func(), store.Ref, []store.Verb) {
			q := request()
			seen := report(t, s, claim(t, s, q).Claim(), store.Change{Verb: store.MarkUnknown})
			q = again(q)
			return func() {
				r, err := s.TakeOver(t.Context(), q, seen)
				require.NoError(t, err)
				require.Equal(t, q.Token, r.Token)
			}, q.Ref, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver}
		}},
		{"Amend", func(t *testing.T) (func(), store.Ref, []store.Verb) {
			seen := report(t, s, claimed(t), done("x"))
			return func() {
				r, err := s.Amend(t.Context(), seen, store.Change{Verb: store.Forget, Who: "operator"})
				require.NoError(t, err)
				require.Equal(t, 2, r.Generation)
			}, seen.Ref, []store.Verb{store.Claimed, store.Complete, store.Forget}
		}},
		{"Renew", func(t *testing.T) (func(), store.Ref, []store.Verb) {
			held := claimed(t)
			return func() {
				gone, err := s.Renew(t.Context(), time.Hour, []store.Claim{held})
				require.NoError(t, err)
				require.Empty(t, gone)
			}, held.Ref, []store.Verb{store.Claimed}
		}},
	}
	for _, c := range []store.Change{
		done("x"), {Verb: store.Fail, Outcome: done("x").Outcome}, {Verb: store.Release},
		{Verb: store.NotApplied}, {Verb: store.MarkUnknown}, {Verb: store.Suspend, For: time.Hour},
	} {
		cases = append(cases, struct {
			name string
			make func(t *testing.T) (func(), store.Ref, []store.Verb)
		}{"Report/" + string(c.Verb), func(t *testing.T) (func(), store.Ref, []store.Verb) {
			held := claimed(t)
			return func() { report(t, s, held, c) }, held.Ref, []store.Verb{store.Claimed, c.Verb}
		}})
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			for before := int64(0); ; before++ {
				call, ref, want := tt.make(t)
				pool.Reset()
				require.NoError(t, pool.Ping(t.Context()))
				w.cutAfter(before)
				call()
				came := w.heal()
				require.Equal(t, want, story(t, s, ref), "answer %d was lost", before)
				if came {
					require.Greater(t, before, int64(1))
					return
				}
			}
		})
	}
}

// An amendment is written, its answer lost, and the record changed again before
// it is asked for: the history knows.
func TestLostAnswerOfAnAmendmentThatWasFollowedByAnother(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	seen := report(t, s, claim(t, s, request()).Claim(), done("x"))
	_, err := pool.Exec(t.Context(), `
		CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			UPDATE effectonce.records SET version = version + 1, generation = generation + 1
			WHERE root = NEW.root AND key = NEW.key AND NEW.verb = 'forget';
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER follow AFTER INSERT ON effectonce.history
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION follow()`)
	require.NoError(t, err)
	// One call to warm a connection; then the read's answer comes, and the write's does not.
	_, err = s.Amend(t.Context(), seen, store.Change{Verb: store.Release, Who: "operator"})
	require.ErrorIs(t, err, store.ErrConflict)
	other := report(t, s, claim(t, s, request()).Claim(), done("x"))
	_, err = s.Amend(t.Context(), other, store.Change{Verb: store.AllowRerun, Who: "operator"})
	require.NoError(t, err)
	w.cutAfter(1)
	r, err := s.Amend(t.Context(), seen, store.Change{Verb: store.Forget, Who: "operator"})
	require.NoError(t, err)
	require.False(t, w.heal())
	require.Equal(t, 2, r.Generation)
	require.Equal(t, []store.Verb{store.Claimed, store.Complete, store.Forget}, story(t, s, seen.Ref))
}

// A request that is lost on its way is sent again.
func TestLostRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, postgres.Options{}, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	require.NoError(t, pool.Ping(t.Context()))
	w.early.Store(1)
	q := request()
	r := claim(t, s, q)
	w.early.Store(1)
	report(t, s, r.Claim(), done("x"))
	require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, s, q.Ref))
}

// A server that kills connections at every moment: before, in and after a commit.
func TestKilledBackendsLoseNothingAndDoNothingTwice(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	killer := newPool(t, pool.Config().ConnString())
	var stop atomic.Bool
	var killing sync.WaitGroup
	var killed int
	killing.Go(func() {
		for !stop.Load() {
			var n int
			err := killer.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity, pg_sleep(0.02)
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`).Scan(&n)
			if err == nil {
				killed += n
			}
		}
	})
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 25 {
				q := request()
				r, err := s.Claim(t.Context(), q)
				if !isOurs(t, r, q, err) {
					return
				}
				r, err = s.Report(t.Context(), r.Claim(), done("x"))
				if err != nil || r.State != store.Completed {
					t.Errorf("Report: %s, %v", r.State, err)
				}
			}
		})
	}
	working.Wait()
	stop.Store(true)
	killing.Wait()
	t.Logf("%d backends killed", killed)
	require.NotZero(t, killed)

	var entries, completes, records, finished int
	require.NoError(t, killer.QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE verb = 'complete' AND version = 2),
			(SELECT count(*) FROM effectonce.records), (SELECT count(*) FROM effectonce.records WHERE state = 'completed')
		FROM effectonce.full_history`).Scan(&entries, &completes, &records, &finished))
	require.Equal(t, []int{400, 200, 200, 200}, []int{entries, completes, records, finished})
}

func isOurs(t *testing.T, r store.Record, q store.Request, err error) bool {
	if err != nil || r.State != store.InFlight || r.Token != q.Token {
		t.Errorf("Claim: %s, %v", r.State, err)
		return false
	}
	return true
}

// Without a server there is no answer, and it comes soon.
func TestUnreachableServerIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/nothing")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := newStore(t, pool, postgres.Options{})
	begin := time.Now()
	_, err = s.Claim(t.Context(), request())
	require.Error(t, err)
	require.Less(t, time.Since(begin), 5*time.Second)
}
