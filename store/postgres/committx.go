package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/internal/commit"
	"github.com/effectonce/effectonce/store"
)

var _ store.Transactor = (*Store)(nil)

// CommitsTx implements [store.Transactor]: see [Store.CommitTx].
func (*Store) CommitsTx() {}

// withinSQL looks at what a report has done in the same transaction: whether it is
// inside a savepoint. A frozen process must not keep the record locked:
// the server ends a transaction whose commit does not come.
const withinSQL = `
SELECT xmin::text <> (txid_current() % 4294967296)::text,
	set_config('idle_in_transaction_session_timeout', $3, true), {durable}
FROM {records} WHERE root = $1 AND key = $2`

// CommitTx commits tx, and in it the outcome of the action that the activity of ctx
// runs: the rows that the body has written in tx are there if and only if result is the
// recorded outcome. tx is a transaction on the database of the records, of any pool; if
// it is nested in another one, both are committed. ctx is the body's. See
// interceptor.Transactional.
//
// A nil error means that both are durable. With any error but those of the last kind,
// tx has been rolled back:
//
//	another attempt has taken over or finished the action  → store.ErrLeaseLost
//	tx is not on the database and schema of the records    → store.ErrNotFound, or a *pgconn.PgError
//	ctx is done                                            → its cause
//	the result cannot be encoded, or is too large          → an error that says so
//	the server refuses, such as a deferred constraint      → a *pgconn.PgError
//	anything else (the commit's answer was lost)           → maybe committed
//
// The body returns the error as it is, or tries again with another transaction: if
// the action was committed after all, nothing is committed again, and the recorded
// outcome is handed out. At REPEATABLE READ and above, a renewal of the lease since the
// transaction's first statement is a serialization failure (40001): keep such a
// transaction shorter than a third of the lease.
//
// Without an action (the interceptor is not registered, or has no policy for the
// activity) CommitTx commits tx and nothing else.
func (s *Store) CommitTx(ctx context.Context, tx pgx.Tx, result any) error {
	record, running := commit.From(ctx)
	if !running {
		return tx.Commit(ctx)
	}
	// What is begun is ended: a commit that is cut off leaves a question behind.
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Timeout)
	defer cancel()
	err := record(ctx, result, func(held store.Claim, c store.Change) error {
		err := context.Cause(ctx)
		if err == nil {
			err = s.commit(work, tx, held, c)
		}
		return failed("commit", held.Key, err)
	})
	if err != nil {
		_ = tx.Rollback(work) // already has an error to return; may be closed
	}
	return err
}

func (s *Store) commit(ctx context.Context, tx pgx.Tx, held store.Claim, c store.Change) error {
	if err := c.ValidateReport(held); err != nil {
		return err
	}
	if s.opts.Portable {
		return s.commitPlainly(ctx, tx, held, c)
	}
	rep := s.newReport(held, c)
	var changed, found, savepoint bool
	list := []statement{
		{s.text.report[c.Verb], rep.args(), func(rows pgx.Rows) error {
			rows.Close()
			changed = rows.CommandTag().RowsAffected() == 1
			return rows.Err()
		}},
		{s.text.within, []any{uuid(held.Root), held.Key[:], strconv.FormatInt(s.opts.Timeout.Milliseconds(), 10)}, func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&savepoint, nil, nil}, func() error { found = true; return nil })
			return err
		}},
	}
	var batch pgx.Batch
	for _, st := range list {
		batch.Queue(st.sql, st.args...)
	}
	err := readAll(tx.SendBatch(ctx, &batch), list)
	switch {
	case err != nil:
		return err
	case !found:
		return store.ErrNotFound
	case !changed:
		return store.ErrLeaseLost
	case savepoint:
		return commitAll(ctx, tx)
	}
	return tx.Commit(ctx)
}

// commitAll commits tx where a savepoint is open. It cannot be told whether tx is just
// that savepoint, whose own Commit would commit nothing.
func commitAll(ctx context.Context, tx pgx.Tx) error {
	c := tx.Conn()
	tag, err := c.Exec(ctx, "COMMIT")
	switch {
	case err != nil && c.PgConn().TxStatus() != 'I':
		_ = c.Close(ctx) // what became of it cannot be known here
	case err == nil && tag.String() == "ROLLBACK":
		err = pgx.ErrTxCommitRollback
	}
	_ = tx.Rollback(ctx) // there is nothing left to roll back: it gives the connection back
	return err
}
