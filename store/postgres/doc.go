// Package postgres keeps records in PostgreSQL.
//
//	pool, err := pgxpool.New(ctx, "postgres://…")
//	err = postgres.Migrate(ctx, pool, postgres.Options{})
//	s, err := postgres.New(pool, postgres.Options{})
//	defer s.Close()
//
// # Promises
//
// Those of package store, for any number of processes on one database. What was
// acknowledged has been flushed to the server's disk, and to its synchronous
// standbys, whatever the session's synchronous_commit says; a stronger setting is
// left alone. What a server loses nevertheless (an asynchronous standby that was
// promoted, a restore to an earlier moment) is lost here too.
//
// Every change of a record and its line of history are one statement. A claim is
// one round trip, and so is a report. Every transaction runs at READ COMMITTED,
// whatever the database's default is.
//
// A call whose answer was lost (the connection broke) is repeated until there is
// a definite answer, and recognises what it did itself. A call goes on when its
// context is done; a claim that is won after its caller has gone is given up at
// once.
//
// Text that PostgreSQL cannot hold (NUL bytes, invalid UTF-8) is refused where it
// names something, and told with replacement characters in the history.
//
// # Errors
//
//	text with a NUL byte or that is not UTF-8        → store.ErrInvalid: not applied
//	a row that makes no sense                        → store.ErrCorrupt
//	the tables are newer than this program           → ErrNewerSchema from Migrate
//	the pool had no connection before ctx was done   → the context's cause: not applied
//	ctx done, or no definite answer within Timeout   → maybe applied; repeat the call as it was
//	what the server refuses for its own reasons      → a *pgconn.PgError: not applied
//	anything else that package store has an error for → that error
//
// No error contains a statement's arguments.
//
// # Clock and concurrency
//
// The server's clock_timestamp() decides leases, deadlines and retention. All
// methods are safe for concurrent use. Through a pooler in transaction mode, use
// the query mode "exec" (pgx.QueryExecModeExec), which keeps no prepared
// statements; Migrate needs the server itself.
package postgres
