package storetest

import (
	"time"

	"github.com/effectonce/effectonce/store"
)

// amendments that say "it did not happen", in one way or another.
var notHappened = []store.Verb{store.Release, store.NotApplied, store.AllowRerun, store.Forget}

func settle(v store.Verb, d time.Duration) store.Change {
	return store.Change{Verb: v, Settle: d, Who: "operator"}
}

var settleTests = []test{
	{"FirstAttemptMaySayAtOnceThatItDidNotHappen", func(e *env) {
		r := e.report(e.won(e.request()), settle(store.NotApplied, long))
		e.equal("state", r.State, store.Free)
		e.equal("nothing under way", r.SettledAt(long).IsZero(), true)
	}},

	{"OwnerWaitsForTheAttemptBefore", func(e *env) {
		q := e.request(shortLease) // its request may be under way for an hour
		r := e.takeOver(again(q), e.over(e.won(q)))
		got, err := e.Report(e.ctx(), r.Claim(), settle(store.NotApplied, 0))
		e.refused(store.ErrUnsettled, r, got, err)

		q = e.request(shortDeadline)
		r = e.takeOver(again(q), e.over(e.won(q)))
		got, err = e.Report(e.ctx(), r.Claim(), settle(store.NotApplied, long))
		e.refused(store.ErrUnsettled, r, got, err)
		e.at(q.Ref, r.Prior.Add(short))
		r = e.report(r, settle(store.NotApplied, short))
		e.equal("state", r.State, store.Free)
		e.equal("its own request is not under way", r.Deadline.IsZero(), true)
	}},

	{"TakeOverThatExcludesTheAttemptsBeforeWaitsForThem", func(e *env) {
		q := e.request(shortLease) // its request may be under way for an hour
		r := e.over(e.won(q))
		next := again(q)
		next.Excluded = true
		got, err := e.TakeOver(e.ctx(), next, r)
		e.refused(store.ErrUnsettled, r, got, err)
	}},

	{"OwnerWaitsForTheAttemptBeforeAlsoOverAFreeRecord", func(e *env) {
		q := e.request()
		e.report(e.won(q), store.Change{Verb: store.Release})
		r := e.won(again(q))
		got, err := e.Report(e.ctx(), r.Claim(), settle(store.NotApplied, 0))
		e.refused(store.ErrUnsettled, r, got, err)
	}},

	{"LatestDeadlineOfAllAttemptsCounts", func(e *env) {
		q := e.request(shortLease) // an hour
		r := e.over(e.won(q))
		q = again(with(q, shortDeadline))
		r = e.over(e.takeOver(q, r))
		q = again(q)
		r = e.takeOver(q, r) // before it: an hour, and then almost nothing
		got, err := e.Report(e.ctx(), r.Claim(), settle(store.NotApplied, 0))
		e.refused(store.ErrUnsettled, r, got, err)
		r = e.over(r)
		got, err = e.Amend(e.ctx(), r, settle(store.NotApplied, 0))
		e.refused(store.ErrUnsettled, r, got, err)
	}},

	{"OthersWaitForTheLastAttemptUnlessTheyForce", func(e *env) {
		for _, verb := range notHappened {
			for _, s := range situations {
				q := e.request()
				r := s.make(e, q)
				if r.Done() || r.State == store.Free {
					continue // nothing can be under way that would change what is known
				}
				e.within(string(verb)+"/"+s.name, func(e *env) {
					got, err := e.Amend(e.ctx(), r, settle(verb, long))
					e.refused(store.ErrUnsettled, r, got, err)
					c := settle(verb, long)
					c.Force = true
					e.equal("state when forced", e.amend(r, c).State, store.Free)
				})
			}
		}
	}},

	{"OthersAreBelievedOnceTheDeadlineIsPast", func(e *env) {
		for _, verb := range notHappened {
			e.within(string(verb), func(e *env) {
				r := e.won(e.request(shortDeadline))
				r = e.at(r.Ref, r.Deadline.Add(short))
				e.equal("state", e.amend(r, settle(verb, short)).State, store.Free)
			})
		}
	}},

	{"FinishedByOthersNeedsNoWait", func(e *env) {
		for _, c := range []store.Change{done("seen at the bank"), failed("declined")} {
			r := e.won(e.request())
			c.Settle = long
			e.equal("done", e.amend(r, c).Done(), true)
		}
	}},

	{"MomentIsExact", func(e *env) {
		clock, ok := e.Store.(Advancer)
		if !ok {
			return // a real clock does not stand still
		}
		r := e.won(e.request(shortDeadline))
		clock.Advance(r.Deadline.Sub(r.Now) + time.Second - time.Microsecond)
		r = e.get(r.Ref)
		got, err := e.Amend(e.ctx(), r, settle(store.NotApplied, time.Second))
		e.refused(store.ErrUnsettled, r, got, err)
		clock.Advance(time.Microsecond)
		e.amend(r, settle(store.NotApplied, time.Second))
	}},
}
