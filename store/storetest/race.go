package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/effectonce/effectonce/store"
)

// racers is more than any pool of connections that a backend should need.
const racers = 200

// together starts n goroutines behind one barrier and waits for them.
func together(n int, f func(i int)) {
	var ready, over sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		over.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	over.Wait()
}

var raceTests = []test{
	{"OneOfManyClaimsAndTheOthersGetItsOutcome", func(e *env) {
		q := e.request()
		var runs atomic.Int64
		together(racers, func(i int) {
			mine := again(q)
			for patience := time.Now().Add(60 * time.Second); time.Now().Before(patience); time.Sleep(5 * time.Millisecond) {
				r, err := e.Claim(e.ctx(), mine)
				switch {
				case err != nil:
					e.Errorf("Claim: %v", err)
					return
				case r.State == store.InFlight && r.Token == mine.Token:
					runs.Add(1)
					if _, err := e.Report(e.ctx(), r.Claim(), done("of "+mine.Token.String())); err != nil {
						e.Errorf("Report: %v", err)
						return
					}
				case r.State == store.Completed:
					if got, want := data(r), "of "+r.Token.String(); got != want {
						e.Errorf("outcome: got %q, want %q", got, want)
					}
					return
				}
			}
			e.Error("no outcome in time")
		})
		e.equal("runs", runs.Load(), int64(1))
		e.equal("fence", e.get(q.Ref).Fence, int64(1))
	}},

	{"OneOfManyClaimsAFreeRecord", func(e *env) {
		q := e.request()
		e.report(e.won(q), store.Change{Verb: store.NotApplied})
		e.oneWins(func(mine store.Token) (store.Record, error) {
			q := q
			q.Token = mine
			return e.Claim(e.ctx(), q)
		})
		e.equal("fence", e.get(q.Ref).Fence, int64(2))
	}},

	{"OneOfManyTakesOver", func(e *env) {
		q := e.request()
		seen := e.report(e.won(q), store.Change{Verb: store.MarkUnknown})
		e.oneWins(func(mine store.Token) (store.Record, error) {
			q := q
			q.Token = mine
			return e.TakeOver(e.ctx(), q, seen)
		})
		e.equal("fence", e.get(q.Ref).Fence, int64(2))
	}},

	{"OneOfManyKeysOfOneScheduledActivityIsClaimed", needScheduled(func(e *env) {
		scheduled := digest()
		e.oneWins(func(mine store.Token) (store.Record, error) {
			q := e.request()
			q.Token, q.Scheduled = mine, scheduled
			return e.Claim(e.ctx(), q)
		})
	})},

	{"TakeOverAgainstLateSuccessHasOneWinner", func(e *env) {
		for range 20 {
			q := e.request()
			seen := e.report(e.won(q), store.Change{Verb: store.MarkUnknown})
			var took, succeeded error
			together(2, func(i int) {
				if i == 0 {
					_, took = e.TakeOver(e.ctx(), again(q), seen)
				} else {
					_, succeeded = e.Report(e.ctx(), seen.Claim(), done("late"))
				}
			})
			if (took == nil) == (succeeded == nil) {
				e.Fatalf("take-over: %v, late success: %v; want exactly one refused", took, succeeded)
			}
		}
	}},

	{"ManyKeysAtOnceAreAllClaimed", func(e *env) {
		together(racers, func(i int) {
			q := e.request()
			r, err := e.Claim(e.ctx(), q)
			if err != nil || r.Token != q.Token {
				e.Errorf("Claim: %v, %v", r.State, err)
				return
			}
			if _, err := e.Report(e.ctx(), r.Claim(), done("x")); err != nil {
				e.Errorf("Report: %v", err)
			}
		})
	}},
}

// oneWins insists on exactly one of many tokens owning a record in flight.
func (e *env) oneWins(claim func(mine store.Token) (store.Record, error)) {
	e.Helper()
	var won atomic.Int64
	together(racers, func(int) {
		mine := store.NewToken()
		r, err := claim(mine)
		switch {
		case r.State != store.InFlight:
			e.Errorf("got a record that is %q and error %v, want one in flight", r.State, err)
		case r.Token == mine && err == nil:
			won.Add(1)
		}
	})
	e.equal("winners", won.Load(), int64(1))
}
