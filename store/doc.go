// Package store says how it is recorded what became of each action.
//
//	rec, err := s.Claim(ctx, request)
//	if err == nil && rec.State == store.InFlight && rec.Token == request.Token {
//		// ours: run the effect, then say what became of it
//		rec, err = s.Report(ctx, rec.Claim(), store.Change{Verb: store.Complete, Outcome: &outcome})
//	}
//
// # States
//
//	(never asked) --claim--> in_flight --complete--> completed
//	                           |  |  |---fail-------> failed
//	                           |  |---release-------> free        re-running is safe
//	                           |  |---not_applied---> free        next generation
//	                           |---lease over, mark_unknown-----> unknown
//	                           '---suspend--> pending --complete, fail--> completed, failed
//	                                             '------overdue---------> unknown
//	free    --claim-----> in_flight
//	unknown --take over-> in_flight
//	any     --amend-----> completed | failed | free     by an operator or reconciler, with a reason
//
// # Promises
//
// Of all who claim a record, one owns it at a time. A record is never deleted by a
// method of [Store], nor by housekeeping, and its fence never falls; only [Pruner]
// deletes, when it is told to, and then all begins anew. An owner's report is accepted while nobody took over,
// also when its lease is over: a late success is a success. Once somebody took
// over, it is refused. Unknown is never written over anything but a claim whose
// lease is over, or the writer's own. Completed and failed are left only by
// Amend. "It did not happen" is refused until the request of every earlier
// attempt can no longer arrive (its deadline plus Settle).
//
// Claims, reports and amendments are durable when the call returns without an
// error; how durable is the backend's to say.
//
// # Errors
//
//	another attempt owns or finished it          → ErrLeaseLost from Report: not applied
//	the record is not as seen                    → ErrConflict from TakeOver and Amend: not applied
//	the owner may not say this in that state     → ErrConflict from Report: not applied
//	"it did not happen", too early               → ErrUnsettled: not applied
//	no record                                    → ErrNotFound
//	a record that cannot be read                 → ErrCorrupt
//	the request lacks something                  → ErrInvalid: not applied
//	anything else (network, timeout, cancelled)  → maybe applied; repeat the call as it was
//
// Claim, TakeOver and Report may be repeated with the same arguments after an
// error of the last kind: the token tells a store that it has seen them. A store may
// end a claim whose caller left before the answer; never one that it has answered.
//
// # Clock and concurrency
//
// Leases, deadlines and retention are decided by the store's clock, which every
// record carries as Now. The caller's clock is used for durations only. All times
// are kept to the microsecond. All methods are safe for concurrent use by any
// number of goroutines and processes, as far as the backend can be reached by several.
package store
