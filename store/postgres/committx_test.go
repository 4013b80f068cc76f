package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/commit"
	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// ledger is a table of the caller's beside the records.
type ledger struct {
	*testing.T
	*postgres.Store
	pool *pgxpool.Pool
}

func newLedger(t *testing.T, opts postgres.Options, change ...func(*pgxpool.Config)) ledger {
	t.Helper()
	s, pool := open(t, opts, change...)
	_, err := pool.Exec(t.Context(), "CREATE TABLE postings (cents bigint)")
	require.NoError(t, err)
	return ledger{t, s, pool}
}

// post begins a transaction that has written one row.
func (l ledger) post(opts pgx.TxOptions) pgx.Tx {
	l.Helper()
	tx, err := l.pool.BeginTx(l.Context(), opts)
	require.NoError(l, err)
	l.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(l.Context(), "INSERT INTO postings VALUES (500)")
	require.NoError(l, err)
	return tx
}

func (l ledger) rows() (n int) {
	l.Helper()
	require.NoError(l, l.pool.QueryRow(l.Context(), "SELECT count(*) FROM postings").Scan(&n))
	return n
}

// body is the context of a body that runs under a claim.
func body(ctx context.Context, held store.Claim) context.Context {
	return commit.With(ctx, func(_ context.Context, result any, write func(store.Claim, store.Change) error) error {
		return write(held, done(result.(string)))
	})
}

func (l ledger) commit(held store.Claim, tx pgx.Tx) error {
	return l.CommitTx(body(l.Context(), held), tx, "receipt")
}

func TestCommitTxCommitsRowsAndOutcomeTogether(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*pgxpool.Config){
		"Default": func(*pgxpool.Config) {},
		"Exec":    func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec },
		"Simple":  func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, postgres.Options{Schema: `We"ird`})
			l.pool = newPool(t, l.pool.Config().ConnString(), change) // the caller's own
			held := claim(t, l, request()).Claim()
			require.NoError(t, l.commit(held, l.post(pgx.TxOptions{})))
			require.Equal(t, 1, l.rows())
			r, err := l.Get(t.Context(), held.Ref)
			require.NoError(t, err)
			require.Equal(t, store.Completed, r.State)
			require.True(t, r.Outcome.Equal(done("receipt").Outcome))
			require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))

			require.ErrorIs(t, l.commit(held, l.post(pgx.TxOptions{})), store.ErrLeaseLost, "once more is not the same")
			require.Equal(t, 1, l.rows())
		})
	}
}

// In each state of the record: committed if the owner's report would have been, with
// the rows; else nothing is.
func TestCommitTxIsAcceptedWhereAReportIs(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	for name, after := range map[string]func(q store.Request, r store.Record){
		"in flight":   func(store.Request, store.Record) {},
		"free":        func(_ store.Request, r store.Record) { report(t, l, r.Claim(), store.Change{Verb: store.Release}) },
		"not applied": func(_ store.Request, r store.Record) { report(t, l, r.Claim(), store.Change{Verb: store.NotApplied}) },
		"unknown":     func(_ store.Request, r store.Record) { report(t, l, r.Claim(), store.Change{Verb: store.MarkUnknown}) },
		"pending": func(_ store.Request, r store.Record) {
			report(t, l, r.Claim(), store.Change{Verb: store.Suspend, For: 1})
		},
		"completed": func(_ store.Request, r store.Record) { report(t, l, r.Claim(), done("receipt")) },
		"failed": func(_ store.Request, r store.Record) {
			report(t, l, r.Claim(), store.Change{Verb: store.Fail, Outcome: done("x").Outcome})
		},
		"claimed again": func(q store.Request, r store.Record) {
			report(t, l, r.Claim(), store.Change{Verb: store.Release})
			claim(t, l, again(q))
		},
		"taken over": func(q store.Request, r store.Record) {
			_, err := l.TakeOver(t.Context(), again(q), report(t, l, r.Claim(), store.Change{Verb: store.MarkUnknown}))
			require.NoError(t, err)
		},
		"resolved": func(_ store.Request, r store.Record) {
			_, err := l.Amend(t.Context(), r, store.Change{Verb: store.Complete, Outcome: done("x").Outcome, Who: "operator"})
			require.NoError(t, err)
		},
		"forgotten": func(_ store.Request, r store.Record) {
			_, err := l.Amend(t.Context(), report(t, l, r.Claim(), done("x")), store.Change{Verb: store.Forget, Who: "operator"})
			require.NoError(t, err)
		},
	} {
		q := request()
		r := claim(t, l, q)
		tx := l.post(pgx.TxOptions{}) // before, so that its row would survive
		after(q, r)
		seen, err := l.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		_, changed, refused := seen.AfterReport(r.Claim(), done("receipt"), seen.Now)
		rows := l.rows()
		err = l.commit(r.Claim(), tx)
		if changed {
			require.NoError(t, err, name)
			require.Equal(t, rows+1, l.rows(), name)
			continue
		}
		require.ErrorIs(t, err, store.ErrLeaseLost, "%s: %v", name, refused)
		require.Equal(t, rows, l.rows(), name)
		now, err := l.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		now.Now = seen.Now
		require.Equal(t, seen, now, name)
	}
}

// The Commit of a nested transaction commits nothing, and a savepoint that was rolled
// back is still open.
func TestCommitTxCommitsAlsoThroughASavepoint(t *testing.T) {
	t.Parallel()
	for name, pick := range map[string]func(outer, inner pgx.Tx) pgx.Tx{
		"Nested": func(_, inner pgx.Tx) pgx.Tx { return inner },
		"Outer":  func(outer, _ pgx.Tx) pgx.Tx { return outer },
		"RolledBack": func(outer, inner pgx.Tx) pgx.Tx {
			require.NoError(t, inner.Rollback(t.Context()))
			return outer
		},
		"Wrapped": func(_, inner pgx.Tx) pgx.Tx { return halting{inner, func() {}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t, postgres.Options{})
			for range 2 * l.pool.Config().MaxConns { // none is lost
				held := claim(t, l, request()).Claim()
				outer := l.post(pgx.TxOptions{})
				inner, err := outer.Begin(t.Context())
				require.NoError(t, err)
				require.NoError(t, l.commit(held, pick(outer, inner)))
				_ = outer.Rollback(t.Context()) // as a deferred one does
				require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))
			}
			require.EqualValues(t, 2*l.pool.Config().MaxConns, l.rows())
		})
	}
}

func TestCommitTxOnAnotherDatabaseOrSchemaCommitsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	held := claim(t, l, request()).Claim()
	require.NoError(t, postgres.Migrate(t.Context(), l.pool, postgres.Options{Schema: "other"}))
	other := newStore(t, l.pool, postgres.Options{Schema: "other"})
	require.ErrorIs(t, other.CommitTx(body(t.Context(), held), l.post(pgx.TxOptions{}), "receipt"), store.ErrNotFound)
	require.Zero(t, l.rows())

	elsewhere, err := newPool(t, services.Postgres(t)).Begin(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, l.commit(held, elsewhere), "postgres.Migrate")
	require.Equal(t, []store.Verb{store.Claimed}, story(t, l, held.Ref))
}

func TestCommitTxOnADoneContextCommitsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	held := claim(t, l, request()).Claim()
	ctx, cancel := context.WithCancel(body(t.Context(), held))
	cancel()
	require.ErrorIs(t, l.CommitTx(ctx, l.post(pgx.TxOptions{}), "receipt"), context.Canceled)
	require.Zero(t, l.rows())
	require.Equal(t, []store.Verb{store.Claimed}, story(t, l, held.Ref))
}

func TestCommitTxRefusedByADeferredConstraintLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	_, err := l.pool.Exec(t.Context(), "ALTER TABLE postings ADD UNIQUE (cents) DEFERRABLE INITIALLY DEFERRED")
	require.NoError(t, err)
	require.NoError(t, l.commit(claim(t, l, request()).Claim(), l.post(pgx.TxOptions{})))
	held := claim(t, l, request()).Claim()
	var refused *pgconn.PgError
	require.ErrorAs(t, l.commit(held, l.post(pgx.TxOptions{})), &refused)
	require.Equal(t, "23505", refused.Code)
	require.Equal(t, []store.Verb{store.Claimed}, story(t, l, held.Ref))
}

func TestCommitTxWithoutAnActionCommits(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	require.NoError(t, l.CommitTx(t.Context(), l.post(pgx.TxOptions{}), "receipt"))
	require.Equal(t, 1, l.rows())
}

// Renewals write to the record while the transaction is open.
func TestCommitTxAfterARenewal(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	renewed := func(level pgx.TxIsoLevel) error {
		held := claim(t, l, request()).Claim()
		tx := l.post(pgx.TxOptions{IsoLevel: level})
		_, err := l.Renew(t.Context(), time.Hour, []store.Claim{held})
		require.NoError(t, err)
		return l.commit(held, tx)
	}
	require.NoError(t, renewed(pgx.ReadCommitted))
	var refused *pgconn.PgError
	require.ErrorAs(t, renewed(pgx.RepeatableRead), &refused)
	require.Equal(t, "40001", refused.Code)
	require.Equal(t, 1, l.rows())
}

func TestCommitTxIsSynchronousWhateverTheSessionSays(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{}, session("SET synchronous_commit = 'off'"))
	_, err := l.pool.Exec(t.Context(), `
		CREATE TABLE seen (setting text);
		CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO seen SELECT current_setting('synchronous_commit');
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER look AFTER INSERT ON postings
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()`)
	require.NoError(t, err)
	require.NoError(t, l.commit(claim(t, l, request()).Claim(), l.post(pgx.TxOptions{})))
	var setting string
	require.NoError(t, l.pool.QueryRow(t.Context(), "SELECT setting FROM seen").Scan(&setting))
	require.Equal(t, "on", setting)
}

// halting stops between the writing of the outcome and the commit.
type halting struct {
	pgx.Tx
	before func()
}

func (h halting) Commit(ctx context.Context) error {
	h.before()
	return h.Tx.Commit(ctx)
}

// Who would take over while the commit is under way waits for it.
func TestTakeOverNextToACommitThatIsUnderWayWaitsForItsOutcome(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	q := request()
	seen := report(t, l, claim(t, l, q).Claim(), store.Change{Verb: store.MarkUnknown})
	taken := make(chan answer, 1)
	require.NoError(t, l.commit(seen.Claim(), halting{l.post(pgx.TxOptions{}), func() {
		go func() { r, err := l.TakeOver(t.Context(), again(q), seen); taken <- answer{r, err} }()
		waiting(t, l.pool)
	}}))
	a := <-taken
	require.ErrorIs(t, a.err, store.ErrConflict)
	require.Equal(t, store.Completed, a.State)
	require.Equal(t, 1, l.rows())
}

// A process that is frozen before it commits does not keep the others away.
func TestCommitThatDoesNotComeIsEndedByTheServer(t *testing.T) {
	t.Parallel()
	l := newLedger(t, postgres.Options{})
	hasty := newStore(t, l.pool, postgres.Options{Timeout: 100 * time.Millisecond})
	q := request()
	seen := report(t, l, claim(t, l, q).Claim(), store.Change{Verb: store.MarkUnknown})
	err := hasty.CommitTx(body(t.Context(), seen.Claim()), halting{l.post(pgx.TxOptions{}), func() {
		r, err := l.TakeOver(t.Context(), again(q), seen)
		require.NoError(t, err)
		require.EqualValues(t, 2, r.Fence)
	}}, "receipt")
	require.Error(t, err)
	require.Zero(t, l.rows())
	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver}, story(t, l, q.Ref))
}

// waiting returns when a statement waits for a lock.
func waiting(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n))
		if n > 0 {
			return
		}
	}
	t.Fatal("nobody waits for a lock")
}
