package storetest

import (
	"time"

	"github.com/effectonce/effectonce/store"
)

// amendVerbs are all that somebody else can do, with every right.
var amendVerbs = []store.Change{
	{Verb: store.Complete, Outcome: outcome("amended"), Override: true, Who: "operator"},
	{Verb: store.Fail, Outcome: outcome("amended"), Override: true, Who: "operator"},
	{Verb: store.Release, Force: true, Who: "operator"},
	{Verb: store.NotApplied, Force: true, Who: "operator"},
	{Verb: store.AllowRerun, Force: true, Who: "operator"},
	{Verb: store.Forget, Force: true, Who: "operator"},
}

var amendTests = []test{
	{"DoesWhatTheVerbSays", inEachFor(amendVerbs, func(e *env, c store.Change, q store.Request, r store.Record) {
		got, err := e.Amend(e.ctx(), r, c)
		if conflicts(c.Verb, r) {
			e.refused(store.ErrConflict, r, got, err)
			return
		}
		e.equal("error", err, nil)
		e.same("what Get returns", e.get(q.Ref), got)
		e.equal("outcome", got.Outcome.Equal(c.Outcome), true)
		e.equal("fence", got.Fence, r.Fence)
		switch c.Verb {
		case store.Complete:
			e.equal("state", got.State, store.Completed)
		case store.Fail:
			e.equal("state", got.State, store.Failed)
		default:
			e.equal("state", got.State, store.Free)
			e.equal("finished", got.Finished.IsZero(), true)
			e.won(again(q))
		}
	})},

	{"ComparesEverythingThatCanChange", func(e *env) {
		changes := map[string]func(*store.Record){
			"Token":      func(r *store.Record) { r.Token = store.NewToken() },
			"Fence":      func(r *store.Record) { r.Fence-- },
			"State":      func(r *store.Record) { r.State = store.Failed },
			"Generation": func(r *store.Record) { r.Generation-- },
			"Finished":   func(r *store.Record) { r.Finished = r.Finished.Add(-time.Microsecond) },
		}
		r := e.report(e.won(e.request()), done("x"))
		for name, change := range changes {
			for _, c := range amendVerbs {
				e.within(name+"/"+string(c.Verb), func(e *env) {
					seen := r
					change(&seen)
					got, err := e.Amend(e.ctx(), seen, c)
					e.refused(store.ErrConflict, r, got, err)
				})
			}
		}
	}},

	{"FinishedNeedsOverride", func(e *env) {
		r := e.report(e.won(e.request()), done("right"))
		for _, c := range []store.Change{done("wrong"), failed("wrong")} {
			c.Who, c.Force = "operator", true
			got, err := e.Amend(e.ctx(), r, c)
			e.refused(store.ErrConflict, r, got, err)
		}
		c := failed("corrected")
		c.Override = true
		got := e.amend(r, c)
		e.equal("state", got.State, store.Failed)
		e.equal("outcome", data(got), "corrected")
	}},

	{"OneOfTwoOverridesThatSawTheSameWins", func(e *env) {
		seen := e.report(e.won(e.request()), done("first"))
		c := done("second")
		c.Override = true
		r := e.amend(seen, c)
		e.equal("finished later", r.Finished.After(seen.Finished), true)
		c = done("third")
		c.Override, c.Who = true, "another operator"
		got, err := e.Amend(e.ctx(), seen, c)
		e.refused(store.ErrConflict, r, got, err)
	}},

	{"RefusedOnceTheOwnerRenewed", func(e *env) {
		r := e.won(e.request(shortDeadline))
		seen := e.at(r.Ref, r.Deadline)
		e.renew(long, r.Claim())
		r = e.get(r.Ref)
		for _, c := range amendVerbs {
			got, err := e.Amend(e.ctx(), seen, c)
			e.refused(store.ErrConflict, r, got, err)
		}
	}},

	{"RevokesAClaimInFlight", func(e *env) {
		for _, c := range amendVerbs {
			owner := e.won(e.request())
			r, err := e.Amend(e.ctx(), owner, c)
			e.equal("error", err, nil)
			e.equal("token", r.Token, store.Token{})
			for _, report := range ownerVerbs {
				got, err := e.Report(e.ctx(), owner.Claim(), report)
				e.refused(store.ErrLeaseLost, r, got, err)
			}
		}
	}},

	{"LateSuccessIsAcceptedAfterUnknownWasFreed", func(e *env) {
		for _, c := range []store.Change{{Verb: store.Release, Force: true}, {Verb: store.NotApplied, Force: true}} {
			owner := e.won(e.request())
			r := e.amend(e.report(owner, store.Change{Verb: store.MarkUnknown}), c)
			e.equal("token", r.Token, owner.Token)
			e.equal("state", e.report(owner, done("late")).State, store.Completed)
		}
	}},

	{"LateWriteDoesNotUndoAllowRerunOrForget", inEachFor(amendVerbs[4:], func(e *env, c store.Change, q store.Request, r store.Record) {
		if conflicts(c.Verb, r) {
			return
		}
		owner := r.Claim()
		r = e.amend(r, c)
		for _, report := range ownerVerbs {
			got, err := e.Report(e.ctx(), owner, report)
			e.refused(store.ErrLeaseLost, r, got, err)
		}
		e.equal("a late renewal is lost", len(e.renew(long, owner)), 1)
	})},

	{"ResolvedUnknownIsFinal", func(e *env) {
		owner := e.won(e.request())
		r := e.amend(e.report(owner, store.Change{Verb: store.MarkUnknown}), done("seen at the bank"))
		got, err := e.Report(e.ctx(), owner.Claim(), failed("mine"))
		e.refused(store.ErrLeaseLost, r, got, err)
		e.same("a duplicate", e.claim(e.request(func(q *store.Request) { q.Ref, q.Fingerprint = r.Ref, r.Fingerprint })), r)
	}},
}

// conflicts reports whether the state alone forbids an amendment, whoever forces it.
func conflicts(v store.Verb, r store.Record) bool {
	switch v {
	case store.Release, store.NotApplied:
		return r.Done() || r.State == store.Free
	case store.AllowRerun:
		return r.State == store.Free
	}
	return false
}
