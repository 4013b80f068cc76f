package storetest

import "github.com/effectonce/effectonce/store"

var renewTests = []test{
	{"ExtendsTheLeaseFromNow", func(e *env) {
		r := e.won(e.request())
		e.equal("lost", len(e.renew(3*long, r.Claim())), 0)
		got := e.get(r.Ref)
		ahead := got.Lease.Sub(r.Now)
		e.equal("at least as long as asked", ahead >= 3*long, true)
		e.equal("at most as long as asked", !got.Lease.After(got.Now.Add(3*long)), true)
		got.Lease = r.Lease
		e.same("everything but the lease", got, r)
	}},

	{"LeaseThatIsOverComesBackWhileNobodyTookOver", func(e *env) {
		r := e.over(e.won(e.request(shortLease)))
		e.equal("lost", len(e.renew(long, r.Claim())), 0)
		got := e.get(r.Ref)
		e.equal("live", got.Live(), true)
		e.equal("claim", got.Claim(), r.Claim())
	}},

	{"ReturnsExactlyTheLostClaims", func(e *env) {
		var held, lost []store.Claim
		for range 3 {
			held = append(held, e.won(e.request()).Claim())
		}
		lose := func(c store.Claim) { held, lost = append(held, c), append(lost, c) }

		q := e.request(shortLease)
		r := e.over(e.won(q))
		e.takeOver(again(q), r)
		lose(r.Claim()) // taken over

		r = e.won(e.request())
		e.amend(r, store.Change{Verb: store.Release, Force: true})
		lose(r.Claim()) // revoked

		r = e.won(e.request())
		e.amend(r, done("by an operator"))
		lose(r.Claim()) // finished by somebody else

		r = e.won(e.request())
		e.amend(e.report(r, done("x")), store.Change{Verb: store.AllowRerun})
		lose(r.Claim()) // allowed to run again

		lose(store.Claim{Ref: e.request().Ref, Token: store.NewToken(), Fence: 1}) // no record

		for _, end := range []store.Verb{store.Release, store.NotApplied, store.MarkUnknown} {
			r = e.report(e.won(e.request()), store.Change{Verb: end})
			held = append(held, r.Claim()) // ended by its owner: not lost
		}
		got := map[store.Claim]bool{}
		for _, c := range e.renew(long, held...) {
			got[c] = true
		}
		want := map[store.Claim]bool{}
		for _, c := range lost {
			want[c] = true
		}
		e.equal("lost claims", got, want)
		e.equal("renewing nothing loses nothing", len(e.renew(long)), 0)
	}},

	{"LateRenewalDoesNotBringBackWhatItsOwnerEnded", func(e *env) {
		for _, c := range ownerVerbs {
			e.within(string(c.Verb), func(e *env) {
				held := e.won(e.request())
				r := e.report(held, c)
				e.renew(2*long, held.Claim())
				e.same("the record after a renewal that was under way", e.get(r.Ref), r)
			})
		}
	}},

	{"LateRenewalDoesNotBringBackASuspendedClaimThatWasFreed", func(e *env) {
		for _, end := range []store.Verb{store.Release, store.NotApplied} {
			held := e.won(e.request(shortDeadline))
			e.report(held, store.Change{Verb: store.Suspend, For: short})
			r := e.amend(e.at(held.Ref, e.get(held.Ref).Lease), store.Change{Verb: end, Force: true})
			e.renew(long, held.Claim())
			e.same("after "+string(end), e.get(r.Ref), r)
		}
	}},

	{"SameClaimTwiceInOneRenewal", func(e *env) {
		c := e.won(e.request()).Claim()
		e.equal("lost", len(e.renew(long, c, c)), 0)
	}},

	{"RevokedClaimHasNoOwner", func(e *env) {
		r := e.amend(e.won(e.request()), store.Change{Verb: store.Release, Force: true})
		e.equal("token", r.Token, store.Token{})
		e.equal("lost", len(e.renew(long, r.Claim())), 1)
		e.same("the record", e.get(r.Ref), r)
	}},
}
