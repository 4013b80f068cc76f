package dynamodb_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
	"github.com/effectonce/effectonce/store/storetest"
)

// The suite has what a newcomer must wait for; here is what it need not wait for.

// What had passed until the last writing is not waited for again.
func TestTimeThatHasPassedIsWrittenDown(t *testing.T) {
	t.Parallel()
	name := table(t)
	owner := openAt(t, name, storetest.NewClock())
	q := request() // an hour until its deadline
	r := claim(t, owner, q)
	owner.Advance(50 * time.Minute)
	_, err := owner.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)

	newcomer := openAt(t, name, storetest.NewClock())
	newcomer.Advance(1000 * time.Hour)
	r, err = newcomer.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.Equal(t, 10*time.Minute, r.SettledAt(0).Sub(r.Now))
}

// An outside system may take longer than processes live: that goes by the hosts' clocks.
func TestPendingIsOverdueByTheClockOfTheHost(t *testing.T) {
	t.Parallel()
	name := table(t)
	owner := openAt(t, name, storetest.NewClock())
	q := request()
	r := claim(t, owner, q)
	_, err := owner.Report(t.Context(), r.Claim(), store.Change{Verb: store.Suspend, For: 7 * 24 * time.Hour})
	require.NoError(t, err)
	newcomer := openAt(t, name, storetest.NewClock())
	newcomer.Advance(7*24*time.Hour - time.Microsecond)
	r, err = newcomer.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.True(t, r.Live())
	newcomer = openAt(t, name, newcomer.Clock)
	newcomer.Advance(time.Microsecond)
	r, err = newcomer.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.True(t, r.Uncertain())
}

// Sweep watches too, by passing by.
func TestSweepFindsOverWhatItHasWatched(t *testing.T) {
	t.Parallel()
	name := table(t)
	owner, sweeper := openAt(t, name, storetest.NewClock()), openAt(t, name, storetest.NewClock())
	q := request()
	claim(t, owner, q)
	sweeper.Advance(1000 * time.Hour)
	for _, want := range []int{0, 0, 1, 0} {
		n, err := sweeper.Sweep(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, want, n)
		sweeper.Advance(30 * time.Minute)
	}
	r, err := owner.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.Equal(t, store.Unknown, r.State)
}

// Clocks that disagree do not bring back who was first: an override is always later.
func TestOverrideIsLaterThanWhatItReplaces(t *testing.T) {
	t.Parallel()
	name := table(t)
	ahead, behind := openAt(t, name, storetest.NewClock()), openAt(t, name, storetest.NewClock())
	ahead.Advance(time.Hour)
	r := claim(t, ahead, request())
	seen, err := ahead.Report(t.Context(), r.Claim(), done("first"))
	require.NoError(t, err)
	c := done("second")
	c.Override, c.Who = true, "ann"
	r, err = behind.Amend(t.Context(), seen, c)
	require.NoError(t, err)
	require.True(t, r.Finished.After(seen.Finished))
	c = done("third")
	c.Override, c.Who = true, "bob"
	_, err = ahead.Amend(t.Context(), seen, c)
	require.ErrorIs(t, err, store.ErrConflict)
}

// Processes share nothing but the table: of all who claim, take over and report, one
// is at work at a time.
func TestOneOfManyProcessesOwnsAClaim(t *testing.T) {
	t.Parallel()
	name := table(t)
	var all []*dynamodb.Store
	for range 4 {
		all = append(all, open(t, connect(t), dynamodb.Options{Table: name}))
	}
	q := request()
	var atWork, runs atomic.Int64
	var over sync.WaitGroup
	for i := range 16 {
		over.Go(func() {
			s, mine := all[i%len(all)], again(q)
			for {
				r, err := s.Claim(t.Context(), mine)
				if err == nil && r.State == store.Unknown {
					if r, err = s.TakeOver(t.Context(), mine, r); err != nil {
						continue // another was faster
					}
				}
				switch {
				case err != nil:
					t.Errorf("Claim: %v", err)
					return
				case r.Done():
					return
				case r.Token != mine.Token || r.State != store.InFlight:
					continue
				}
				if n := atWork.Add(1); n != 1 {
					t.Errorf("%d are at work", n)
				}
				c := store.Change{Verb: store.Release}
				switch runs.Add(1) {
				case 10:
					c = done("x")
				case 3, 6:
					c.Verb = store.MarkUnknown
				}
				atWork.Add(-1)
				if _, err := s.Report(t.Context(), r.Claim(), c); err != nil {
					t.Errorf("%s: %v", c.Verb, err)
				}
				mine.Token = store.NewToken()
			}
		})
	}
	over.Wait()
	r, err := all[0].Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.EqualValues(t, 10, r.Fence)
	require.EqualValues(t, 10, runs.Load())
}
