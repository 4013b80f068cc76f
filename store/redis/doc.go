// Package redis keeps records in Redis or Valkey.
//
//	client := driver.NewClient(&driver.Options{Addr: "…"}) // github.com/redis/go-redis/v9
//	s, err := redis.New(ctx, client, redis.Options{})
//	defer s.Close()
//
// # Promises
//
// Those of package store, for any number of processes on one primary, as long as that
// keeps what it has written. How long that is, is for its settings to say:
//
//   - appendonly yes, appendfsync always: what was acknowledged survives kill -9 and,
//     as far as the disk keeps its word, a power cut. Use this.
//   - appendfsync everysec: about two seconds of what was acknowledged may be lost.
//   - no append-only file: all since the last snapshot, or all.
//
// Every step is one script: a claim is one round trip, and so is a result; all else
// takes two. Calls of all goroutines share up to 12 connections and their round trips.
//
// A server that may evict records is refused by [New] ([ErrEviction]): set
// maxmemory-policy to noeviction there, and on every server that may become primary,
// for New is the only moment at which it is looked at. A server that is out of memory
// refuses claims and results, and nothing runs. No key has a time to live: a lease is
// a field, retention drops outcomes, and records stay. Plan for about 2 KB of memory a
// record, its outcome apart. A record that is gone nevertheless is
// [store.ErrCorrupt], not one that never was, as long as the index of all still has it.
//
// # What a failover may lose
//
// Redis copies to its replicas after it has answered. When a replica takes over, by
// Sentinel, in a cluster or by hand, claims and results that it had not yet got are
// gone, with their history and without a trace; the next attempt of such an action
// claims it again, and its effect happens twice. The same goes for a primary that has
// been replaced and does not know: it goes on answering, and all of it is lost.
//
// [Options.Replicas] narrows this. A claim, take-over, report or amendment is then
// answered only when so many replicas have confirmed it, by WAIT in the same pipeline
// and so on the same connection; else it is [ErrReplicas], and no effect may run. What
// that does not do: undo the change on the primary (its claim lives until its lease is
// over); wait for the disk of a replica, which confirms what it has in memory; choose
// who takes over, which may be a replica that has not confirmed it; keep a primary
// that was cut off from answering reads. So wait for all replicas that may take over,
// or set min-replicas-to-write too. It is no consensus, whatever the number: where a
// second effect after a failover is not bearable, use package postgres.
//
// # Errors
//
//	the server may evict records                     → ErrEviction from New
//	a Ring, or another unusual client                → ErrClient from New
//	nothing there, with Options.Existing             → ErrMissing from New
//	the prefix is another program's                  → ErrForeign from New
//	a newer version of this package has written      → ErrNewer from New
//	too few replicas have confirmed in time          → ErrReplicas: applied on the primary; repeat the call as it was
//	a record makes no sense, or is gone              → store.ErrCorrupt
//	equal keys with different roots                  → store.ErrInvalid from Claim
//	the server refuses (OOM, NOREPLICAS, NOPERM, …)  → its error: not applied
//	ctx done, or no answer within Options.Timeout    → maybe applied; repeat the call as it was
//	after Close                                      → ErrClosed: not applied
//
// and those of package store. A call whose answer was lost is sent again until there
// is a definite one; every record names the call that wrote it last, so that nothing
// is done twice. A call goes on when its context is done, unless it was still waiting
// to be sent; a claim that is won after its caller has gone is given up at once.
//
// # Keys and clusters
//
// "{effectonce}:record:eo1_…" is a hash with the fields of a record, readable but for
// its digests, and "{effectonce}:history:eo1_…" the list of its changes; scheduled,
// leases, expiries and refs are indexes. The braces put all keys of a store into one
// slot of a cluster, for scripts may touch no other: a store is on one of its nodes,
// and a cluster makes it more available, not faster. While that slot moves to another
// node, calls wait, and fail after Options.Timeout.
//
// List reads record after record behind Filter.After until its page is full, whatever
// it filters by: it is for people, and slow where much has to be passed over.
//
// # Clock and concurrency
//
// The primary's TIME decides leases, deadlines and retention; a replica that takes
// over brings its own, so keep them in step. Changes of two round trips count from the
// first. Redis 5 or later is needed; tested with Redis 7.0. All methods are safe for
// concurrent use by any number of goroutines and processes.
package redis
