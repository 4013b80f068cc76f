package storetest

import "github.com/effectonce/effectonce/store"

var generationTests = []test{
	{"GrowsExactlyOnIntendedReruns", func(e *env) {
		q := e.request(shortDeadline)
		r := e.won(q)
		want := 1
		step := func(how string, grows int, next store.Record) {
			e.Helper()
			want += grows
			e.equal("generation after "+how, next.Generation, want)
			r = next
		}
		free := func(v store.Verb) store.Change { return store.Change{Verb: v, Force: true} }
		claim := func() { q = again(q); step("claim", 0, e.won(q)) }

		step("release", 0, e.report(r, store.Change{Verb: store.Release}))
		claim()
		step("lease over", 0, e.over(r))
		q = again(q)
		step("take-over", 0, e.takeOver(q, r))
		e.at(q.Ref, r.Prior)
		step("not applied, after an attempt that did not say", 0, e.report(r, store.Change{Verb: store.NotApplied}))
		claim()
		step("mark unknown", 0, e.report(r, store.Change{Verb: store.MarkUnknown}))
		step("release by an operator", 0, e.amend(r, free(store.Release)))
		claim()
		step("not applied by an operator", 1, e.amend(r, free(store.NotApplied)))
		claim()
		step("suspend", 0, e.report(r, store.Change{Verb: store.Suspend, For: long}))
		step("complete", 0, e.report(r, done("x")))
		c := failed("y")
		c.Override = true
		step("override", 0, e.amend(r, c))
		step("allow-rerun", 1, e.amend(r, store.Change{Verb: store.AllowRerun}))
		claim()
		step("fail", 0, e.report(r, failed("x")))
		step("forget", 1, e.amend(r, store.Change{Verb: store.Forget}))
		step("forget of a free record", 1, e.amend(r, store.Change{Verb: store.Forget}))
		claim()
		e.same("what Get returns", e.get(q.Ref), r)
	}},

	{"RepeatedNotAppliedIsCountedOnce", func(e *env) {
		owner := e.won(e.request())
		for range 3 {
			e.equal("generation", e.report(owner, store.Change{Verb: store.NotApplied}).Generation, 2)
		}
	}},

	{"NotAppliedByAnOperatorAndThenByTheOwnerIsCountedOnce", func(e *env) {
		owner := e.won(e.request())
		r := e.report(owner, store.Change{Verb: store.MarkUnknown})
		r = e.amend(r, store.Change{Verb: store.NotApplied, Force: true})
		e.equal("generation", r.Generation, 2)
		e.equal("generation", e.report(owner, store.Change{Verb: store.NotApplied}).Generation, 2)
	}},

	// A lost answer, then a refusal that never reached the receiver's books: a new
	// key would let the receiver do it a second time.
	{"NotAppliedAfterALostAnswerKeepsTheKey", func(e *env) {
		q := e.request(shortDeadline)
		e.report(e.won(q), store.Change{Verb: store.Release})
		for range 2 {
			q = again(q)
			r := e.won(q)
			e.at(q.Ref, r.Prior)
			r = e.report(r, store.Change{Verb: store.NotApplied})
			e.equal("state", r.State, store.Free)
			e.equal("generation", r.Generation, 1)
			e.equal("generation, said again", e.report(r, store.Change{Verb: store.NotApplied}).Generation, 1)
		}
	}},

	{"NotAppliedAfterTheEarlierAttemptsWereExcludedIsANewRequest", func(e *env) {
		q := e.request(shortDeadline)
		r := e.over(e.won(q))
		e.at(q.Ref, r.SettledAt(short))
		q = again(q)
		q.Excluded, q.Settle = true, short
		r = e.takeOver(q, r)
		e.equal("nothing before it is under way", r.Prior.IsZero(), true)
		e.equal("generation after take-over", r.Generation, 1)
		e.equal("generation", e.report(r, settle(store.NotApplied, long)).Generation, 2)
	}},

	{"NotAppliedAfterReleaseIsANewRequest", func(e *env) {
		owner := e.won(e.request())
		e.report(owner, store.Change{Verb: store.Release})
		e.equal("generation", e.report(owner, store.Change{Verb: store.NotApplied}).Generation, 2)
	}},
}
