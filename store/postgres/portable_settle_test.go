package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
)

// Every answer of every call is lost once, also those of BEGIN, of what precedes the
// commit, and of the commit.
func TestPortableLostAnswerIsSettled(t *testing.T) {
	t.Parallel()
	var w wire
	s, pool := open(t, portable, w.between, func(c *pgxpool.Config) { c.MaxConns = 1 })
	for name, prepare := range map[string]func(q store.Request) (call func() error, want []store.Verb){
		"Claim": func(q store.Request) (func() error, []store.Verb) {
			return func() error { claim(t, s, q); return nil }, []store.Verb{store.Claimed}
		},
		"ClaimOfAFreeRecord": func(q store.Request) (func() error, []store.Verb) {
			report(t, s, claim(t, s, q).Claim(), store.Change{Verb: store.Release})
			return func() error { claim(t, s, again(q)); return nil }, []store.Verb{store.Claimed, store.Release, store.Claimed}
		},
		"TakeOver": func(q store.Request) (func() error, []store.Verb) {
			seen := report(t, s, claim(t, s, q).Claim(), store.Change{Verb: store.MarkUnknown})
			return func() error { _, err := s.TakeOver(t.Context(), again(q), seen); return err },
				[]store.Verb{store.Claimed, store.MarkUnknown, store.TookOver}
		},
		"Complete": func(q store.Request) (func() error, []store.Verb) {
			held := claim(t, s, q).Claim()
			return func() error { report(t, s, held, done("x")); return nil }, []store.Verb{store.Claimed, store.Complete}
		},
		"NotApplied": func(q store.Request) (func() error, []store.Verb) {
			held := claim(t, s, q).Claim()
			return func() error {
				require.Equal(t, 2, report(t, s, held, store.Change{Verb: store.NotApplied}).Generation)
				return nil
			}, []store.Verb{store.Claimed, store.NotApplied}
		},
		"Amend": func(q store.Request) (func() error, []store.Verb) {
			seen := report(t, s, claim(t, s, q).Claim(), done("x"))
			return func() error {
				r, err := s.Amend(t.Context(), seen, store.Change{Verb: store.Forget, Who: "operator"})
				require.Equal(t, 2, r.Generation)
				return err
			}, []store.Verb{store.Claimed, store.Complete, store.Forget}
		},
		"Renew": func(q store.Request) (func() error, []store.Verb) {
			held := claim(t, s, q).Claim()
			return func() error {
				lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{held})
				require.Empty(t, lost)
				return err
			}, []store.Verb{store.Claimed}
		},
		"Resume": func(q store.Request) (func() error, []store.Verb) {
			q.Lease = time.Microsecond
			held := claim(t, s, q).Claim()
			return func() error {
				lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{held})
				require.Empty(t, lost)
				return err
			}, []store.Verb{store.Claimed, store.Resumed}
		},
		"Sweep": func(q store.Request) (func() error, []store.Verb) {
			q.Lease = time.Microsecond
			claim(t, s, q)
			return func() error {
				n, err := s.Sweep(t.Context(), 10)
				require.Equal(t, 1, n)
				return err
			}, []store.Verb{store.Claimed, store.Swept}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for before, lost := int64(0), true; lost; before++ {
				q := request()
				call, want := prepare(q)
				pool.Reset()
				require.NoError(t, pool.Ping(t.Context()))
				w.cutAfter(before)
				require.NoError(t, call())
				lost = !w.heal()
				require.Equal(t, want, story(t, s, q.Ref), "answer %d was lost", before)
			}
		})
	}
}

func TestPortableKilledBackendsLoseNothingAndDoNothingTwice(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	killer := newPool(t, pool.Config().ConnString())
	var stop atomic.Bool
	var killing, working sync.WaitGroup
	killed := 0
	killing.Go(func() {
		for !stop.Load() {
			var n int
			if err := killer.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity, pg_sleep(0.02)
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`).Scan(&n); err == nil {
				killed += n
			}
		}
	})
	for range 8 {
		working.Go(func() {
			for range 25 {
				q := request()
				r, err := s.Claim(t.Context(), q)
				if !isOurs(t, r, q, err) {
					return
				}
				if r, err = s.Report(t.Context(), r.Claim(), done("x")); err != nil || r.State != store.Completed {
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
	var records, entries, completes int
	require.NoError(t, killer.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM effectonce.records WHERE state = 'completed'),
		count(*), count(*) FILTER (WHERE verb = 'complete' AND version = 2) FROM effectonce.history`).
		Scan(&records, &entries, &completes))
	require.Equal(t, []int{200, 200, 200}, []int{records, entries, completes})
}

func TestPortableCallersThatLeaveOwnNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	warm(t, pool)
	var mu sync.Mutex
	left := map[store.Ref]store.Token{}
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 100 {
				q := request()
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Microsecond+rand.N(2*time.Millisecond))
				r, err := s.Claim(ctx, q)
				cancel()
				switch {
				case errors.Is(err, context.DeadlineExceeded):
					mu.Lock()
					left[q.Ref] = q.Token
					mu.Unlock()
				case err != nil || r.Token != q.Token:
					t.Errorf("Claim: %v", err)
				}
			}
		})
	}
	working.Wait()
	s.Close()
	require.NotEmpty(t, left)
	again := newStore(t, pool, portable)
	for ref, token := range left {
		r, err := again.Get(t.Context(), ref)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, store.Free, r.State, "claimed by a caller that has left")
		require.Equal(t, token, r.Token)
	}
}

// At SERIALIZABLE many fail that are not in each other's way. None is told of it.
func TestPortableManyAtSerializable(t *testing.T) {
	t.Parallel()
	s, _ := open(t, portable, isolation("serializable"), func(c *pgxpool.Config) { c.MaxConns = 16 })
	shared := make([]store.Request, 50)
	for i := range shared {
		shared[i] = request()
	}
	var working sync.WaitGroup
	for range 16 {
		working.Go(func() {
			for i := range shared {
				if r, err := s.Claim(t.Context(), again(shared[i])); err != nil || r.Fence != 1 {
					t.Errorf("Claim of a shared key: fence %d, %v", r.Fence, err)
				}
				q := request()
				r, err := s.Claim(t.Context(), q)
				if isOurs(t, r, q, err) {
					if _, err = s.Report(t.Context(), r.Claim(), done("x")); err != nil {
						t.Errorf("Report: %v", err)
					}
				}
			}
		})
	}
	working.Wait()
}

// refuse makes the commit of every change but a first claim fail, n times.
func refuse(t *testing.T, pool *pgxpool.Pool, code string, n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `
		CREATE SEQUENCE refused;
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('refused') <= TG_ARGV[0]::bigint THEN RAISE 'not now' USING ERRCODE = TG_ARGV[1]; END IF;
			RETURN NULL;
		END $$`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), fmt.Sprintf(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON effectonce.history
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse('%d', '%s')`, n, code))
	require.NoError(t, err)
}

// What an optimistic engine says at the commit, and CockroachDB when it cannot tell.
func TestPortableRefusedCommitIsRepeated(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01", "40003"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, portable)
			held := claim(t, s, request()).Claim()
			refuse(t, pool, code, 3)
			require.Equal(t, store.Completed, report(t, s, held, done("x")).State)
			require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, s, held.Ref))
		})
	}
}

func TestPortableRepeatsEndWithTheTimeout(t *testing.T) {
	t.Parallel()
	opts := portable
	opts.Timeout = 300 * time.Millisecond
	s, pool := open(t, opts)
	r := claim(t, s, request())
	refuse(t, pool, "40001", 1<<30)
	begin := time.Now()
	_, err := s.Report(t.Context(), r.Claim(), done("x"))
	require.Error(t, err) // the refusal, or that a statement took too long
	require.Less(t, time.Since(begin), 5*time.Second)
	got, err := s.Get(t.Context(), r.Ref)
	require.NoError(t, err)
	got.Now = r.Now
	require.Equal(t, r, got)
}

// One row that somebody holds must not let the leases of all others run out, and is
// not lost for being held.
func TestPortableRenewalOfARowThatIsHeld(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	held := []store.Claim{claim(t, s, request()).Claim()}
	tx, err := newPool(t, pool.Config().ConnString()).Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "SELECT FROM effectonce.records FOR UPDATE")
	require.NoError(t, err)
	for range 20 {
		held = append(held, claim(t, s, request()).Claim())
	}
	renewed := make(chan error, 1)
	go func() {
		lost, err := s.Renew(t.Context(), 2*time.Hour, held)
		if len(lost) > 0 {
			err = fmt.Errorf("%d are lost", len(lost))
		}
		renewed <- err
	}()
	for _, h := range held[1:] {
		require.Eventually(t, func() bool {
			r, err := s.Get(t.Context(), h.Ref)
			return err == nil && r.Lease.After(r.Created.Add(90*time.Minute))
		}, 5*time.Second, time.Millisecond) // less than Timeout
	}
	require.Empty(t, renewed)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-renewed)
}

// A record may be pruned between the looking and the sweeping.
func TestPortableSweepOfARecordThatIsGone(t *testing.T) {
	t.Parallel()
	s, pool := open(t, portable)
	var refs []store.Ref
	for i := range 2 {
		q := request()
		q.Root[0], q.Lease = byte(i), time.Microsecond
		refs = append(refs, claim(t, s, q).Ref)
	}
	tx, err := newPool(t, pool.Config().ConnString()).Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "SELECT FROM effectonce.records WHERE root = $1 FOR UPDATE", refs[0].Root)
	require.NoError(t, err)
	swept := make(chan error, 1)
	go func() {
		n, err := s.Sweep(t.Context(), 10)
		if n != 1 {
			err = errors.Join(err, fmt.Errorf("%d were swept", n))
		}
		swept <- err
	}()
	waitForLocks(t, pool, 1)
	_, err = pool.Exec(t.Context(), "DELETE FROM effectonce.records WHERE root = $1", refs[1].Root)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-swept)
}

// A row that makes no sense is an error wherever it is met, and keeps housekeeping
// from nothing else.
func TestPortableRowThatMakesNoSenseIsCorrupt(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		"state = 'resting'", "fingerprint = 'short'", "scheduled_hex = 'xx'", "scheduled_hex = 'ab'", "fence = 0", "generation = 0",
		"state = 'completed'", "outcome_format = 'text'", "outcome_data = 'text'", "finished = now()", "created = 'infinity'",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t, portable)
			q := request()
			q.Lease = time.Microsecond
			held := claim(t, s, q).Claim()
			other := request()
			other.Lease = time.Microsecond
			claim(t, s, other)
			_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET "+set+" WHERE root = $1", q.Root)
			require.NoError(t, err)
			_, err = s.Get(t.Context(), q.Ref)
			require.ErrorIs(t, err, store.ErrCorrupt)
			_, err = s.Claim(t.Context(), again(q))
			require.ErrorIs(t, err, store.ErrCorrupt)
			_, err = s.Report(t.Context(), held, done("x"))
			require.ErrorIs(t, err, store.ErrCorrupt)
			n, err := s.Sweep(t.Context(), 10)
			require.Equal(t, 1, n, "%v", err)
		})
	}
}
