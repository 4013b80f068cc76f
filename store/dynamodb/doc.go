// Package dynamodb keeps records in an Amazon DynamoDB table.
//
//	client := driver.NewFromConfig(cfg) // github.com/aws/aws-sdk-go-v2/service/dynamodb
//	err := dynamodb.EnsureTable(ctx, client, dynamodb.Options{})
//	s, err := dynamodb.New(ctx, client, dynamodb.Options{})
//	defer s.Close()
//
// # Promises
//
// Those of package store, for any number of processes on one table in one region, as
// far as the list below goes. A record is one item; every change of it, its line of
// history included, is one conditional UpdateItem on the version that was read; reads
// are strongly consistent. What was acknowledged is in several availability zones.
//
// Weaker than elsewhere:
//
//   - There is no server's clock. A claim counts as unknown only once this store has
//     seen it unchanged for its whole lease; see below.
//   - The digest of a scheduled activity is not unique among records. An attempt whose
//     key has changed (a deploy renamed a field) is not recognised: it is another
//     action. One whose fingerprint has changed under the same key is.
//   - An item has at most 400 KiB. An outcome of 380 KiB fits; a larger record is
//     [ErrTooLarge], and what the owner did then becomes unknown unless it reports
//     something smaller, such as a reference.
//   - The history has at most a hundred changes and 16 KiB; see [Store.History].
//   - List, Sweep and Expire read the whole table, and pay for it.
//   - There is no CommitTx.
//
// Items are never deleted: an action whose item is gone would run again. So New refuses
// a table whose time to live is on, and a global table whose regions agree later, where
// the last writer wins and two may own one claim. (One with strong consistency is let
// through; it has not been tested.) Both are looked at by New only. Retention removes
// attributes.
//
// # Clock
//
// Leases and deadlines are kept as durations, counted by each store from when it first
// saw that version of the item: after it was written, so never too early. A renewal is
// a new version. So a newcomer waits a whole lease before it takes over, and the time
// that was left until an attempt's deadline before it believes that nothing happened;
// a process that was restarted is a newcomer. All that this rests on is that monotonic
// clocks run equally fast. A store watches 100,000 versions at most, and begins anew
// with those that it has not looked at for the longest time. Sweep needs a process that
// stays; an operator's command, which does not, has Force.
//
// The clocks of the hosts decide the rest, and should agree within what does not
// matter to you: when an outcome may be dropped, when an outside system is overdue
// (which may be longer than processes live), and what times people see. A process takes
// its host's clock when the store is opened, and goes on by the monotonic one.
//
// # Errors
//
//	no such table in the region                      → ErrMissing
//	another key than "key"                           → ErrForeign from New and EnsureTable
//	time to live is on                               → ErrExpiring from New
//	an eventually consistent global table            → ErrReplicated from New
//	an item of more than 400 KiB                     → ErrTooLarge (also store.ErrInvalid): not applied
//	text that is not UTF-8, equal keys with different roots → store.ErrInvalid: not applied
//	an item that makes no sense, or was deleted while being written → store.ErrCorrupt
//	DynamoDB refuses (no permission, throttled, …)   → its error, with what to do about it: not applied
//	ctx done, or no answer within Options.Timeout    → maybe applied; repeat the call as it was
//	after Close                                      → ErrClosed: not applied
//
// and those of package store. A request whose answer was lost is sent again by the
// client's own retry policy, and recognised: every writing has a name, which is in the
// item and in its history. A claim goes on when its caller has left; if it is won, it
// is given up at once.
//
// # Concurrency
//
// All methods are safe for concurrent use by any number of goroutines and processes.
// Each call has a connection while it lasts: give the client's HTTP transport as many
// idle ones (MaxIdleConnsPerHost) as there are activities at a time, and a timeout of
// some seconds, so that a request that hangs is sent again.
package dynamodb
