// Package postgres keeps records in PostgreSQL.
//
//	pool, err := pgxpool.New(ctx, "postgres://…")
//	err = postgres.Migrate(ctx, pool, postgres.Options{})
//	s, err := postgres.New(pool, postgres.Options{})
//	defer s.Close()
//
// A program that does not migrate calls [Store.Check] instead: New asks nothing.
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
// are one statement. Claims and reports of many goroutines share transactions, two
// at a time, without waiting for company; each caller waits for the commit.
//
// The record itself tells of its first claim, of how it finished and of when its outcome
// was dropped, until another claim or an amendment changes that and writes it into the
// history first: most actions are one row that is written two or three times, and nothing
// else. [Store.History] and the view full_history have it all. The table history is
// partitioned by month; [Migrate] makes partitions a year ahead. What comes without one
// is kept in history_other.
//
// Who waits for another process's action is notified when it ends, and polls as well:
// [Store.Watch].
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
//	no tables, or older ones than this program's     → ErrNotMigrated from Check
//	the tables are newer than this program           → ErrNewerSchema from Check and Migrate
//	they were made with another Options.Portable     → ErrPortable from Check and Migrate
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
// methods are safe for concurrent use.
//
// After a server's clock was put back by more than ten minutes, run Sweep and Expire
// before it has made up for that, or empty the table progress: what fell due in between
// would not be looked for.
//
// Lookup reads the whole table, List reads it in the order of its index, Sweep what has
// become active since the oldest claim that the sweep before found alive, and Expire
// what has fallen due since the last one, and in the ten minutes before. Sweep, Expire
// and Prune change a few hundred rows in each transaction, and after each leave the
// server to others for as long as it took, up to 20 ms.
//
// What claims and reports share is sent past pgx's tracers.
//
// # Poolers
//
// Nothing is kept in a session of the pool, no settings or session locks, but prepared
// statements where the pool's query mode is to keep them. So a pooler in transaction mode
// may be in between (tested with PgBouncer 1.18; one in statement mode may not, because
// claims of many share transactions), with two things said. Notifications need a connection that stays the same: set
// [Options.NoNotify]. And pgx itself keeps prepared statements, in the mode that it has
// by default, and fails there (42P05, 26000): set the pool's query mode.
//
//	exec              works; for poolers, this one      pgx.QueryExecModeExec, or …?default_query_exec_mode=exec
//	cache_describe    works until a migration changes a column that is in use
//	simple_protocol   works
//	cache_statement   42P05 (the default; works with PgBouncer 1.21 and max_prepared_statements, which was not tested)
//	describe_exec     08P01
//
// A pooler refuses start parameters that it does not know (08P01), and drops them where
// ignore_startup_parameters names them. Of those of a URL that concerns search_path,
// options, default_transaction_isolation and the like, none of which the store needs.
// [Migrate] begins its connections with a search_path and so needs the server itself,
// once for each version; where nothing is to do, it works through a pooler too. Behind
// one, the pool's size is not the number of connections of the server.
//
// # Distributed engines
//
// [Options.Portable] is for databases that speak PostgreSQL's protocol and are something
// else inside. It is built for them and tested on PostgreSQL only, with a list of all
// that it may send: docs/operations/portable.md. Durability is then the engine's; the
// clock is that of whichever node runs a statement; Sweep, Expire, Lookup and List read
// the table.
package postgres
