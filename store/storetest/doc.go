// Package storetest is the contract of package store as a test suite. A backend's
// whole contract test is
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store { return open(t) })
//	}
//
// # What a backend needs
//
// open is called once for every subtest and may return the same store each time:
// subtests run in parallel, use fresh keys and never empty anything. Nobody else
// may sweep or expire records of that store while the suite runs.
//
// Optional powers are found by asking the store: [store.Lister], [store.Historian],
// [store.Janitor], [store.Pruner], and [Advancer] for a store whose clock is injected;
// such a store must be a new one for every subtest. Any other store is tested by its
// real clock, with leases of a few milliseconds and by asking the store what time it is.
//
// What a store does not promise, or keeps in another way, an [Option] says: then other
// tests run, and none is skipped.
//
// Run with -race. -short makes the random tests shorter.
package storetest
