package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/effectonce/effectonce/internal/commit"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

// ledger is a table of the caller's beside the records.
type ledger struct {
	*testing.T
	*sqlite.Store
}

func newLedger(t *testing.T) ledger {
	t.Helper()
	l := ledger{t, open(t, filepath.Join(t.TempDir(), "records.db"))}
	must(l.DB().ExecContext(t.Context(), "CREATE TABLE postings (cents INTEGER)"))
	return l
}

// post begins a transaction of db that has written one row.
func (l ledger) post(ctx context.Context, db *sql.DB) *sql.Tx {
	l.Helper()
	tx := must(db.BeginTx(ctx, nil))
	l.Cleanup(func() { _ = tx.Rollback() })
	must(tx.ExecContext(l.Context(), "INSERT INTO postings VALUES (500)"))
	return tx
}

// want fails the test unless the ledger has this many rows, and the record this history.
func (l ledger) want(rows int, ref store.Ref, story ...store.Verb) {
	l.Helper()
	var n int
	if err := l.DB().QueryRowContext(l.Context(), "SELECT count(*) FROM postings").Scan(&n); err != nil || n != rows {
		l.Errorf("got %d rows, %v, want %d", n, err, rows)
	}
	var verbs []store.Verb
	for _, e := range must(l.History(l.Context(), ref)) {
		verbs = append(verbs, e.Verb)
	}
	if !slices.Equal(verbs, story) {
		l.Errorf("got history %v, want %v", verbs, story)
	}
}

// body is the context of a body that runs under a claim.
func body(ctx context.Context, held store.Claim) context.Context {
	return commit.With(ctx, func(_ context.Context, result any, write func(store.Claim, store.Change) error) error {
		return write(held, done(result.(string)))
	})
}

func (l ledger) refused(got, want error) {
	l.Helper()
	if !errors.Is(got, want) {
		l.Errorf("got error %v, want %v", got, want)
	}
}

func TestCommitTxCommitsRowsAndOutcomeTogether(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	held := must(l.Claim(t.Context(), request(1))).Claim()
	must(0, l.CommitTx(body(t.Context(), held), l.post(t.Context(), l.DB()), "receipt"))
	l.want(1, held.Ref, store.Claimed, store.Complete)
	if r := must(l.Get(t.Context(), held.Ref)); r.State != store.Completed || !r.Outcome.Equal(done("receipt").Outcome) {
		t.Errorf("got a record that is %s with %v", r.State, r.Outcome)
	}
	err := l.CommitTx(body(t.Context(), held), l.post(t.Context(), l.DB()), "receipt")
	l.refused(err, store.ErrLeaseLost) // once more is not the same
	l.want(1, held.Ref, store.Claimed, store.Complete)
}

func TestCommitTxAfterATakeOverLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	q := request(1)
	seen := must(l.Report(t.Context(), must(l.Claim(t.Context(), q)).Claim(), store.Change{Verb: store.MarkUnknown}))
	old := seen.Claim()
	q.Token = store.NewToken()
	must(l.TakeOver(t.Context(), q, seen))
	l.refused(l.CommitTx(body(t.Context(), old), l.post(t.Context(), l.DB()), "receipt"), store.ErrLeaseLost)
	l.want(0, q.Ref, store.Claimed, store.MarkUnknown, store.TookOver)
}

// The take-over comes while a transaction that did not begin IMMEDIATE has read, and
// not yet written.
func TestCommitTxOfADeferredTransactionSeesATakeOverSinceItRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	l := ledger{t, open(t, path)}
	must(l.DB().ExecContext(t.Context(), "CREATE TABLE postings (cents INTEGER)"))
	plain := must(sql.Open("sqlite", path))
	defer plain.Close() //nolint:errcheck // a test
	q := request(1)
	seen := must(l.Report(t.Context(), must(l.Claim(t.Context(), q)).Claim(), store.Change{Verb: store.MarkUnknown}))
	tx := must(plain.BeginTx(t.Context(), nil))
	var n int
	must(0, tx.QueryRow("SELECT count(*) FROM postings").Scan(&n))
	old := seen.Claim()
	q.Token = store.NewToken()
	must(l.TakeOver(t.Context(), q, seen))
	l.refused(l.CommitTx(body(t.Context(), old), tx, "receipt"), sqlite.ErrBusy)
	l.want(0, q.Ref, store.Claimed, store.MarkUnknown, store.TookOver)
}

func TestCommitTxOnAnotherFileCommitsNothing(t *testing.T) {
	t.Parallel()
	l, other := newLedger(t), newLedger(t)
	held := must(l.Claim(t.Context(), request(1))).Claim()
	l.refused(l.CommitTx(body(t.Context(), held), other.post(t.Context(), other.DB()), "receipt"), store.ErrNotFound)
	l.want(0, held.Ref, store.Claimed)
	var n int
	if err := other.DB().QueryRowContext(t.Context(), "SELECT count(*) FROM postings").Scan(&n); err != nil || n != 0 {
		t.Errorf("the other file has %d rows, %v", n, err)
	}
}

func TestCommitTxOnADoneContextCommitsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	held := must(l.Claim(t.Context(), request(1))).Claim()
	ctx, cancel := context.WithCancel(body(t.Context(), held))
	tx := l.post(t.Context(), l.DB())
	cancel()
	l.refused(l.CommitTx(ctx, tx, "receipt"), context.Canceled)
	ctx, cancel = context.WithCancel(t.Context())
	tx = l.post(ctx, l.DB())
	cancel() // the transaction's own
	if err := l.CommitTx(body(t.Context(), held), tx, "receipt"); err == nil {
		t.Error("a transaction that was rolled back was committed")
	}
	l.want(0, held.Ref, store.Claimed)
}

func TestCommitTxWithoutAnActionCommits(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	held := must(l.Claim(t.Context(), request(1))).Claim()
	must(0, l.CommitTx(t.Context(), l.post(t.Context(), l.DB()), "receipt"))
	l.want(1, held.Ref, store.Claimed)
}

// Transactions of DB wait for each other and for the store, whatever they read first.
func TestDBWaitsForTheLock(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	first := l.post(t.Context(), l.DB())
	began, claimed := make(chan *sql.Tx, 1), make(chan error, 1)
	go func() { tx, _ := l.DB().BeginTx(t.Context(), nil); began <- tx }()
	go func() { _, err := l.Claim(t.Context(), request(1)); claimed <- err }()
	select {
	case <-began:
		t.Fatal("two transactions write at once")
	case <-claimed:
		t.Fatal("the store writes beside a transaction")
	case <-time.After(50 * time.Millisecond):
	}
	must(0, first.Commit())
	var n int
	second := <-began
	must(0, second.QueryRow("SELECT count(*) FROM postings").Scan(&n))
	must(second.Exec("INSERT INTO postings VALUES (1)"))
	must(0, second.Commit())
	must(0, <-claimed)
	for pragma, want := range map[string]int{"synchronous": 2, "foreign_keys": 1} {
		if must(0, l.DB().QueryRow("PRAGMA "+pragma).Scan(&n)); n != want {
			t.Errorf("%s is %d, want %d", pragma, n, want)
		}
	}
}
