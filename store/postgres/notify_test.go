package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// Whatever ends an action that another process waits for wakes it, and does not wait
// for its next look.
func TestWatcherHearsWhateverEndsTheWaiting(t *testing.T) {
	t.Parallel()
	owner, pool := open(t, postgres.Options{})
	other := newStore(t, pool, postgres.Options{})
	reports := func(c store.Change) func(*testing.T, store.Record) {
		return func(t *testing.T, r store.Record) { report(t, owner, r.Claim(), c) }
	}
	for name, end := range map[string]func(*testing.T, store.Record){
		"Complete":    reports(done("x")),
		"Release":     reports(store.Change{Verb: store.Release}),
		"MarkUnknown": reports(store.Change{Verb: store.MarkUnknown}),
		"Amend": func(t *testing.T, r store.Record) {
			_, err := other.Amend(t.Context(), r, store.Change{Verb: store.Release, Force: true, Who: "operator"})
			require.NoError(t, err)
		},
		"Sweep": func(t *testing.T, r store.Record) {
			_, err := pool.Exec(t.Context(), "UPDATE effectonce.records SET lease = now() WHERE key = $1", r.Key[:])
			require.NoError(t, err)
			n, err := other.Sweep(t.Context(), 1)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		},
		"CompleteInCompany": func(t *testing.T, r store.Record) {
			var working sync.WaitGroup
			for range 16 {
				working.Go(func() { report(t, owner, claim(t, owner, request()).Claim(), done("x")) })
			}
			working.Go(func() { report(t, owner, r.Claim(), done("x")) })
			working.Go(func() { report(t, owner, claim(t, owner, request()).Claim(), store.Change{Verb: store.Release}) })
			working.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := claim(t, owner, request())
			bystander := claim(t, owner, request())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hints := other.Watch(ctx, r.Ref)
			hear(t, hints, "that it is being listened") // it may have ended meanwhile
			report(t, owner, bystander.Claim(), done("x"))
			quiet(t, hints)
			end(t, r)
			hear(t, hints, "of the end")
		})
	}
}

func hear(t *testing.T, hints <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-hints:
	case <-time.After(30 * time.Second):
		t.Fatal("did not hear " + what)
	}
}

func quiet(t *testing.T, hints <-chan struct{}) {
	t.Helper()
	select {
	case <-hints:
		t.Fatal("heard something that is not for it")
	case <-time.After(50 * time.Millisecond):
	}
}

// A connection that breaks is made again, and who waits is told to look, in case
// something was missed.
func TestWatcherOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := claim(t, s, request())
	hints := s.Watch(t.Context(), r.Ref)
	hear(t, hints, "that it is being listened")
	var killed int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN %'`).Scan(&killed))
	require.Equal(t, 1, killed)
	hear(t, hints, "that it is being listened again")
	report(t, s, r.Claim(), done("x"))
	hear(t, hints, "of the end")
}

// Nobody waits: no commit is made to wait for others by a notification.
func TestWhoIsNotWaitedForNotifiesNobody(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	listening, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer listening.Release()
	watched := claim(t, s, request())
	hints := s.Watch(t.Context(), watched.Ref)
	hear(t, hints, "that it is being listened")
	var channel string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT split_part(query, ' ', 2) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN %'`).Scan(&channel))
	_, err = listening.Exec(t.Context(), "LISTEN "+channel)
	require.NoError(t, err)
	report(t, s, claim(t, s, request()).Claim(), done("x"))
	report(t, s, watched.Claim(), done("x"))
	heard, err := listening.Conn().WaitForNotification(t.Context())
	require.NoError(t, err)
	require.Equal(t, watched.Key.String()[len("eo1_"):], heard.Payload, "the first to be heard of is the one that is watched")
}

// The listening ends with the store, also while somebody watches, and with NoNotify
// there is none.
func TestListeningEndsWithTheStore(t *testing.T) {
	t.Parallel()
	pool := newPool(t, services.Postgres(t))
	require.NoError(t, postgres.Migrate(t.Context(), pool, postgres.Options{}))
	listeners := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'LISTEN %'`).Scan(&n))
		return n
	}
	silent, err := postgres.New(pool, postgres.Options{NoNotify: true})
	require.NoError(t, err)
	quiet(t, silent.Watch(t.Context(), request().Ref))
	require.Zero(t, listeners())
	silent.Close()

	s, err := postgres.New(pool, postgres.Options{})
	require.NoError(t, err)
	r := claim(t, s, request())
	hear(t, s.Watch(t.Context(), r.Ref), "that it is being listened")
	require.Equal(t, 1, listeners())
	s.Close()
	require.Eventually(t, func() bool { return listeners() == 0 }, 10*time.Second, 10*time.Millisecond)
	quiet(t, s.Watch(t.Context(), r.Ref))
}

// Who still waits, because another has claimed what was released, hears of that one's
// end too.
func TestWatcherHearsOfTheNextOwnerToo(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	other := newStore(t, pool, postgres.Options{})
	q := request()
	r := claim(t, s, q)
	hints := other.Watch(t.Context(), r.Ref)
	hear(t, hints, "that it is being listened")
	report(t, s, r.Claim(), store.Change{Verb: store.Release})
	hear(t, hints, "of the release")
	q.Token, q.Attempt = request().Token, 2
	next := claim(t, s, q)
	hear(t, hints, "of the claim")
	report(t, s, next.Claim(), done("x"))
	hear(t, hints, "of the end")
}

// Who begins to wait while an amendment is under way, which has read the row already,
// hears of it.
func TestWatcherHearsOfWhatHasBegunBeforeIt(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{})
	r := claim(t, s, request())
	// The amendment waits for the mark, and read the row before it.
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // it is committed
	_, err = tx.Exec(t.Context(), "UPDATE effectonce.records SET waited_for = true WHERE key = $1", r.Key[:])
	require.NoError(t, err)
	amended := make(chan error, 1)
	go func() {
		_, err := s.Amend(t.Context(), r, store.Change{Verb: store.Release, Force: true, Who: "operator"})
		amended <- err
	}()
	somebodyWaits(t, pool)
	listening, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer listening.Release()
	_, err = listening.Exec(t.Context(), "LISTEN "+postgres.Channel(postgres.DefaultSchema))
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-amended)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = listening.Conn().WaitForNotification(ctx)
	require.NoError(t, err)
}

// somebodyWaits waits until somebody waits for a row.
func somebodyWaits(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.Eventually(t, func() (waits bool) {
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		return err == nil && waits
	}, 10*time.Second, 5*time.Millisecond)
}

// A mark that meets a renewal is made all the same, whatever the database's level is.
func TestWatcherThatMeetsARenewalAtRepeatableRead(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Options{}, isolation("repeatable read"))
	r := claim(t, s, request())
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // it is committed
	_, err = tx.Exec(t.Context(), "UPDATE effectonce.records SET version = version + 1 WHERE key = $1", r.Key[:])
	require.NoError(t, err)
	hints := s.Watch(t.Context(), r.Ref)
	somebodyWaits(t, pool)
	require.NoError(t, tx.Commit(t.Context()))
	hear(t, hints, "that it is being listened")
	report(t, s, r.Claim(), done("x"))
	hear(t, hints, "of the end")
}

// A watcher that comes while the store is being closed does not hold that up.
func TestCloseDoesNotWaitForWhoComesMeanwhile(t *testing.T) {
	t.Parallel()
	pool := newPool(t, services.Postgres(t))
	require.NoError(t, postgres.Migrate(t.Context(), pool, postgres.Options{}))
	for range 60 {
		s, err := postgres.New(pool, postgres.Options{})
		require.NoError(t, err)
		hear(t, s.Watch(t.Context(), request().Ref), "that it is being listened")
		var coming sync.WaitGroup
		closing := make(chan struct{})
		for range 4 {
			coming.Go(func() {
				<-closing
				for range 100 {
					s.Watch(t.Context(), request().Ref)
				}
			})
		}
		closed := make(chan struct{})
		go func() {
			<-closing
			s.Close()
			close(closed)
		}()
		close(closing)
		hear(t, closed, "that it is closed")
		coming.Wait()
	}
}
