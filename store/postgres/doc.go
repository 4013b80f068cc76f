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
// A claim is one round trip, and so is a report. A change and its line of history
// are one statement. (A record's first claim is told from the record itself; who
// reads the history by SQL finds it there once another claim or an amendment has
// changed the record.) Claims and reports of many goroutines share transactions,
// two at a time, without waiting for company; each caller waits for the commit.
//
// Rows of the caller's own, in the same database, can be committed together with the
// outcome of their action: [Store.CommitTx].
//
// A call whose answer was lost (the connection broke) is repeated until there is
// a definite answer, and recognises what it did itself. A call goes on when its
// context is done; a claim that is won after its caller has gone is given up at
// once.
//
// READ COMMITTED is enough and is what the store runs at. Where a database has
// another default, it may answer a conflict with a serialization failure; the store
// tries again, and states the level from then on.
//
// Text that PostgreSQL cannot hold (NUL bytes, invalid UTF-8) is refused where it
// names something, and told with replacement characters in the history.
//
// # Errors
//
//	text with a NUL byte or that is not UTF-8        → store.ErrInvalid: not applied
//	a row that makes no sense                        → store.ErrCorrupt
//	the tables are newer than this program           → ErrNewerSchema from Migrate
//	no connection to be had from the pool            → the pool's error: not applied
//	ctx done, or no definite answer within Timeout   → maybe applied; repeat the call as it was
//	what the server refuses for its own reasons      → a *pgconn.PgError: not applied
//	anything else that package store has an error for → that error
//
// Errors name what was tried and the key, not the arguments of statements.
//
// # Clock and concurrency
//
// The server's clock_timestamp() decides leases, deadlines and retention. All
// methods are safe for concurrent use. Through a pooler in transaction mode, use
// the query mode "exec" (pgx.QueryExecModeExec), which keeps no prepared
// statements; Migrate needs the server itself.
//
// Lookup and Sweep read the whole table; List reads it in the order of its index.
package postgres
