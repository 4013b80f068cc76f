package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/effectonce/effectonce/internal/commit"
	"github.com/effectonce/effectonce/store"
)

// CommitsTx implements [store.Transactor]: see [Store.CommitTx].
func (*Store) CommitsTx() {}

// DB returns the file of the records as a database for the caller's own tables, which
// are made after [Open]: any names but records, history and actions. Its transactions
// begin IMMEDIATE, wait for the write lock for [Options.BusyTimeout], and commit to the
// disk; foreign keys are enforced. [Store.Close] closes it.
func (s *Store) DB() *sql.DB { return s.callers }

func openCallers(path string, opts Options) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, "mode=rw", "_txlock=immediate", "_pragma=synchronous(FULL)", "_pragma=foreign_keys(1)",
		fmt.Sprintf("_pragma=busy_timeout(%d)", opts.BusyTimeout.Milliseconds())))
	if err == nil {
		db.SetMaxIdleConns(4)
	}
	return db, err
}

// CommitTx commits a transaction, and in it the outcome of the action that the activity
// of ctx runs: the rows that the body has written in it are there if and only if result
// is the recorded outcome. It must be a transaction on the file of the records: of
// [Store.DB], or of a database that is opened like it; ctx is the body's. See
// interceptor.Transactional.
//
// While the transaction is open, nobody else can write to the file, the store itself
// included: begin it last, keep it short, and call nothing in it that needs the store,
// such as effectonce.Do. One that does not begin IMMEDIATE fails with [ErrBusy]
// whenever anybody else has written since it first read.
//
// A nil error means that both are committed. With any error, but for one of the disk
// (full, input or output), the transaction has been rolled back:
//
//	another attempt has taken over or finished the action   → store.ErrLeaseLost
//	the transaction is on another file                      → store.ErrNotFound, or SQLite's "no such table"
//	the context of the transaction, or ctx, is done         → its cause
//	the result cannot be encoded, or is too large           → an error that says so
//
// and those of the package. The body returns it as it is, or tries again with another
// transaction.
//
// Without an action (the interceptor is not registered, or has no policy for the
// activity) CommitTx commits the transaction and nothing else.
func (s *Store) CommitTx(ctx context.Context, callers *sql.Tx, result any) error {
	record, running := commit.From(ctx)
	if !running {
		return callers.Commit()
	}
	err := record(ctx, result, func(held store.Claim, c store.Change) error {
		err := context.Cause(ctx)
		if err == nil {
			err = commitTx(ctx, callers, held, c)
		}
		return s.explain(fmt.Sprintf("commit %s", held.Key), err)
	})
	if err != nil {
		_ = callers.Rollback() // already has an error to return; may be over
	}
	return err
}

func commitTx(ctx context.Context, callers *sql.Tx, held store.Claim, c store.Change) error {
	if err := c.ValidateReport(held); err != nil {
		return err
	}
	// What is begun is ended, unless the transaction's own context ends it.
	t, err := within(context.WithoutCancel(ctx), callers)
	defer t.close() //nolint:errcheck // the transaction's end has the word
	if err != nil {
		return err
	}
	now := now()
	prev, err := t.record(held.Ref, now)
	if err != nil {
		return err
	}
	next, changed, err := prev.AfterReport(held, c, now)
	switch {
	case err != nil:
		return err
	case !changed:
		return store.ErrLeaseLost // committed before: these rows would be a second time
	}
	if err := t.changed(prev, next, c.Verb, c.Who, c.Why); err != nil {
		return err
	}
	return callers.Commit()
}

// within returns the statements of a report inside a transaction of the caller's.
func within(ctx context.Context, callers *sql.Tx) (tx, error) {
	t := tx{stmts: map[string]*sql.Stmt{}}
	for _, text := range []string{selectByRef, updateChange, insertHistory} {
		stmt, err := callers.PrepareContext(ctx, text)
		if err != nil {
			return t, err
		}
		t.stmts[text] = stmt
	}
	return t, nil
}
