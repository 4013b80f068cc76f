package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Advancer is what a store with an injected clock also is, in tests: embed the
// store and a [Clock] in one struct.
type Advancer interface {
	// Advance moves the store's clock forward.
	Advance(d time.Duration)
}

// Option says what a backend does not promise.
type Option func(*options)

type options struct {
	sharedScheduled bool
	largest         int
	peer            func(t *testing.T, s store.Store) store.Store
}

// ScheduledNotUnique is for stores that cannot keep the digest of a scheduled
// activity unique over records, and say so.
func ScheduledNotUnique() Option { return func(o *options) { o.sharedScheduled = true } }

// OutcomesUpTo is for stores whose records have a bounded size, and say so. Outcomes
// of so many bytes in all are kept; one of 2 MiB is refused with [store.ErrInvalid].
func OutcomesUpTo(bytes int) Option { return func(o *options) { o.largest = bytes } }

// LeasesAreWatched is for stores that share no clock: each process must have seen a
// claim unchanged for a whole lease by its own clock before it counts as unknown, and
// the same goes for deadlines. peer opens what another process would: another store of
// the same records. Both must be an [Advancer], and their clocks need not agree.
func LeasesAreWatched(peer func(t *testing.T, s store.Store) store.Store) Option {
	return func(o *options) { o.peer = peer }
}

// Run checks the whole contract of package store.
func Run(t *testing.T, open func(t *testing.T) store.Store, opts ...Option) {
	s := suite{open: open}
	for _, o := range opts {
		o(&s.options)
	}
	// A group returns when its parallel subtests are done: housekeeping changes
	// records that other subtests may be looking at, so it comes last and alone.
	t.Run("Contract", func(t *testing.T) {
		for _, group := range []struct {
			name  string
			tests []test
		}{
			{"Claim", claimTests}, {"Identity", identityTests}, {"Drift", driftTests},
			{"Report", reportTests}, {"Renew", renewTests}, {"TakeOver", takeOverTests},
			{"Settle", settleTests}, {"Amend", amendTests}, {"Generation", generationTests},
			{"Record", recordTests}, {"Invalid", invalidTests}, {"Cancel", cancelTests},
			{"Race", raceTests}, {"History", historyTests}, {"List", listTests}, {"Watch", watchTests}, {"Prune", pruneTests}, {"Random", randomTests},
		} {
			t.Run(group.name, func(t *testing.T) {
				t.Parallel()
				for _, tt := range group.tests {
					t.Run(tt.name, func(t *testing.T) {
						t.Parallel()
						s.run(t, tt)
					})
				}
			})
		}
	})
	t.Run("Housekeeping", func(t *testing.T) {
		for _, tt := range housekeepingTests {
			t.Run(tt.name, func(t *testing.T) { s.run(t, tt) })
		}
	})
}

type suite struct {
	options
	open func(t *testing.T) store.Store
}

// test is one promise; its name says what is wrong when it fails.
type test struct {
	name string
	run  func(*env)
}

func (s suite) run(t *testing.T, tt test) {
	e := &env{T: t, Store: s.open(t), options: s.options}
	tt.run(e)
}

// power returns an optional power of the store, or skips the test.
func power[P any](e *env) P {
	e.Helper()
	p, ok := e.Store.(P)
	if !ok {
		e.Skipf("the store has no %s", strings.TrimPrefix(typeName[P](), "store."))
	}
	return p
}
