package storetest

import "github.com/effectonce/effectonce/store"

// ownerVerbs are all that an owner can say.
var ownerVerbs = []store.Change{
	done("mine"), failed("mine"),
	{Verb: store.Release}, {Verb: store.NotApplied}, {Verb: store.MarkUnknown}, {Verb: store.Suspend, For: long},
}

var reportTests = []test{
	{"EndsTheClaim", func(e *env) {
		for _, tt := range []struct {
			change store.Change
			state  store.State
		}{
			{done("r"), store.Completed},
			{failed("r"), store.Failed},
			{store.Change{Verb: store.Release}, store.Free},
			{store.Change{Verb: store.NotApplied}, store.Free},
			{store.Change{Verb: store.MarkUnknown}, store.Unknown},
		} {
			e.within(string(tt.change.Verb), func(e *env) {
				r := e.report(e.won(e.request()), tt.change)
				e.equal("state", r.State, tt.state)
				e.equal("lease ended", r.Lease.IsZero(), true)
				e.equal("outcome", r.Outcome.Equal(tt.change.Outcome), true)
				e.equal("finished now", r.Finished.Equal(r.Now), r.Done())
				e.equal("finished", r.Finished.IsZero(), !r.Done())
				e.same("what Get returns", e.get(r.Ref), r)
			})
		}
	}},

	{"SuspendWaitsForTheOutsideSystem", func(e *env) {
		r := e.report(e.won(e.request()), store.Change{Verb: store.Suspend, For: 2 * long})
		e.equal("state", r.State, store.Pending)
		e.equal("live", r.Live(), true)
		e.equal("until", r.Lease.Sub(r.Now), 2*long)
		r = e.report(r, done("from outside"))
		e.equal("state", r.State, store.Completed)

		r = e.report(e.won(e.request()), store.Change{Verb: store.Suspend, For: short})
		e.equal("late outside answer", e.report(e.over(r), failed("late")).State, store.Failed)
	}},

	{"LateSuccessIsASuccessWhileNobodyTookOver", func(e *env) {
		for _, s := range situations {
			r := s.make(e, e.request())
			if r.Done() {
				continue
			}
			e.within(s.name, func(e *env) {
				got := e.report(r, done("late"))
				e.equal("state", got.State, store.Completed)
				e.equal("outcome", data(got), "late")
			})
		}
	}},

	{"StaleOwnerIsRefusedAfterTakeOver", func(e *env) {
		for _, c := range ownerVerbs {
			e.within(string(c.Verb), func(e *env) {
				q := e.request(shortLease)
				stale := e.over(e.won(q))
				r := e.takeOver(with(again(q), func(q *store.Request) { q.Lease = long }), stale)
				got, err := e.Report(e.ctx(), stale.Claim(), c)
				e.refused(store.ErrLeaseLost, r, got, err)
				r = e.report(r, done("winner"))
				got, err = e.Report(e.ctx(), stale.Claim(), c)
				e.refused(store.ErrLeaseLost, r, got, err)
				e.equal("the stale owner is told the outcome", data(got), "winner")
			})
		}
	}},

	{"StaleOwnerIsRefusedAfterRelease", func(e *env) {
		q := e.request()
		stale := e.won(q)
		e.report(stale, store.Change{Verb: store.Release})
		r := e.won(again(q))
		for _, c := range ownerVerbs {
			got, err := e.Report(e.ctx(), stale.Claim(), c)
			e.refused(store.ErrLeaseLost, r, got, err)
		}
	}},

	{"SameTokenWithAnotherFenceIsNotTheOwner", func(e *env) {
		// The token comes back: A claims, B claims, a late copy of A's claim claims.
		q := e.request()
		first := e.won(q)
		e.report(first, store.Change{Verb: store.Release})
		e.report(e.won(again(q)), store.Change{Verb: store.Release})
		r := e.won(q)
		e.equal("token came back", r.Token, first.Token)
		for _, c := range ownerVerbs {
			got, err := e.Report(e.ctx(), first.Claim(), c)
			e.refused(store.ErrLeaseLost, r, got, err)
		}
		e.equal("renewal by the old fence is lost", len(e.renew(long, first.Claim())), 1)
		got, err := e.Amend(e.ctx(), first, store.Change{Verb: store.Release, Force: true, Who: "operator"})
		e.refused(store.ErrConflict, r, got, err)
	}},

	{"AnotherTokenIsNotTheOwner", func(e *env) {
		r := e.won(e.request())
		thief := r.Claim()
		thief.Token = store.NewToken()
		for _, c := range ownerVerbs {
			got, err := e.Report(e.ctx(), thief, c)
			e.refused(store.ErrLeaseLost, r, got, err)
		}
	}},

	{"RepeatedReportIsAcceptedOnce", func(e *env) {
		for _, c := range ownerVerbs {
			e.within(string(c.Verb), func(e *env) {
				held := e.won(e.request())
				r := e.report(held, c)
				for range 3 {
					e.same("the repeated report", e.report(held, c), r)
				}
			})
		}
	}},

	{"FinishedIsNotFinishedAgainWithAnotherOutcome", func(e *env) {
		for _, first := range []store.Change{done("one"), failed("one")} {
			held := e.won(e.request())
			r := e.report(held, first)
			for _, c := range append([]store.Change{done("two"), failed("two")}, ownerVerbs[2:]...) {
				got, err := e.Report(e.ctx(), held.Claim(), c)
				e.refused(store.ErrLeaseLost, r, got, err)
			}
			if first.Verb == store.Complete {
				first.Verb = store.Fail // the same bytes, but the opposite
			} else {
				first.Verb = store.Complete
			}
			got, err := e.Report(e.ctx(), held.Claim(), first)
			e.refused(store.ErrLeaseLost, r, got, err)
		}
	}},

	{"UnknownIsNotWrittenOverPendingOrFree", func(e *env) {
		for _, c := range []store.Change{{Verb: store.Suspend, For: long}, {Verb: store.Release}} {
			r := e.report(e.won(e.request()), c)
			got, err := e.Report(e.ctx(), r.Claim(), store.Change{Verb: store.MarkUnknown})
			e.refused(store.ErrConflict, r, got, err)
		}
	}},
}
