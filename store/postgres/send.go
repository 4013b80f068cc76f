package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs that are told apart.
const (
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	completionUnknown    = "40003" // CockroachDB: the commit may have been made
	lockNotAvailable     = "55P03"
	protocolViolation    = "08P01"
	undefinedTable       = "42P01"
	planChanged          = "0A000"
	noStatement          = "26000"
	undefinedColumn      = "42703"
	duplicateTable       = "42P07"
	duplicateObject      = "42710" // such as the type of a table
	invalidObject        = "42P17"
	checkViolation       = "23514"
)

// statement is one statement, and who reads its rows.
type statement struct {
	sql  string
	args []any
	read func(pgx.Rows) error
}

// send sends statements as one transaction in one round trip. Each sees what was
// committed before it began, not only before the first: they run at READ
// COMMITTED. That is PostgreSQL's default; where it has been changed, the first
// conflict fails with a serialization failure instead of giving a wrong answer,
// and from then on the level is said each time.
func (s *Store) send(ctx context.Context, c *pgx.Conn, list ...statement) error {
	switch {
	case s.begin.Load():
		return s.transaction(ctx, c, list)
	case len(list) > 1:
		return s.pipeline(ctx, c, list)
	}
	rows, err := c.Query(ctx, list[0].sql, list[0].args...)
	if err == nil {
		err = list[0].read(rows)
	}
	s.learn(err)
	return err
}

const beginAtLevelSQL = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

// transaction is send that says the level.
func (s *Store) transaction(ctx context.Context, c *pgx.Conn, list []statement) error {
	list = append([]statement{{beginAtLevelSQL, nil, ignore}}, list...)
	return s.pipeline(ctx, c, append(list, statement{commitSQL, nil, ignore}))
}

func (s *Store) pipeline(ctx context.Context, c *pgx.Conn, list []statement) error {
	var batch pgx.Batch
	for _, st := range list {
		batch.Queue(st.sql, st.args...)
	}
	return s.ended(ctx, c, readAll(c.SendBatch(ctx, &batch), list))
}

// ended leaves c outside of a transaction, whatever became of the last one.
func (s *Store) ended(ctx context.Context, c *pgx.Conn, err error) error {
	if err != nil && !c.IsClosed() && c.PgConn().TxStatus() != 'I' {
		_, _ = c.Exec(ctx, "ROLLBACK") // else the pool throws the connection away
	}
	s.learn(err)
	return err
}

func readAll(results pgx.BatchResults, list []statement) error {
	for _, st := range list {
		rows, err := results.Query()
		if err == nil {
			err = st.read(rows)
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	// Only now has it been committed: an error here is the commit's.
	return results.Close()
}

func (s *Store) learn(err error) {
	if state(err) == serializationFailure {
		s.begin.Store(true)
	}
}

// ignore reads rows that say nothing.
func ignore(rows pgx.Rows) error {
	rows.Close()
	return rows.Err()
}

// state returns the SQLSTATE of an error that came from the server, or "".
func state(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
