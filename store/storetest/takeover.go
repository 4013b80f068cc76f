package storetest

import "github.com/effectonce/effectonce/store"

var takeOverTests = []test{
	{"ClaimsWhatNobodyKnowsAndNothingElse", inEvery(func(e *env, q store.Request, r store.Record) {
		next := again(q)
		got, err := e.TakeOver(e.ctx(), next, r)
		if !r.Uncertain() {
			e.refused(store.ErrConflict, r, got, err)
			return
		}
		e.equal("error", err, nil)
		e.equal("state", got.State, store.InFlight)
		e.equal("token", got.Token, next.Token)
		e.equal("fence", got.Fence, r.Fence+1)
		e.equal("generation", got.Generation, r.Generation)
		e.equal("deadline of the attempt before", got.Prior.Equal(r.Deadline), true)
		e.same("what Get returns", e.get(q.Ref), got)
	})},

	{"OneOfTwoWhoSawTheSameWins", func(e *env) {
		q := e.request(shortLease)
		seen := e.over(e.won(q))
		q.Lease = long
		r := e.takeOver(again(q), seen)
		got, err := e.TakeOver(e.ctx(), again(q), seen)
		e.refused(store.ErrConflict, r, got, err)
	}},

	{"RefusedOnceTheOwnerRenewed", func(e *env) {
		q := e.request(shortLease)
		seen := e.over(e.won(q))
		e.renew(long, seen.Claim())
		r := e.get(q.Ref)
		got, err := e.TakeOver(e.ctx(), again(q), seen)
		e.refused(store.ErrConflict, r, got, err)
	}},

	{"RefusedOnceTheOwnerReported", func(e *env) {
		for _, c := range ownerVerbs {
			q := e.request(shortLease)
			seen := e.over(e.won(q))
			r := e.report(seen, c)
			got, err := e.TakeOver(e.ctx(), again(q), seen)
			e.refused(store.ErrConflict, r, got, err)
		}
	}},

	{"RefusedOnASeenOfAnotherClaim", func(e *env) {
		q := e.request(shortLease)
		r := e.over(e.won(q))
		for name, change := range map[string]func(*store.Record){
			"token":      func(r *store.Record) { r.Token = store.NewToken() },
			"fence":      func(r *store.Record) { r.Fence++ },
			"state":      func(r *store.Record) { r.State = store.Unknown },
			"generation": func(r *store.Record) { r.Generation++ },
		} {
			e.within(name, func(e *env) {
				seen := r
				change(&seen)
				got, err := e.TakeOver(e.ctx(), again(q), seen)
				e.refused(store.ErrConflict, r, got, err)
			})
		}
	}},

	{"RepeatedTakeOverIsTheSameTakeOver", func(e *env) {
		q := e.request(shortLease)
		seen := e.over(e.won(q))
		q = again(q)
		q.Lease = long
		r := e.takeOver(q, seen)
		for range 3 {
			e.same("the repeated take-over", e.takeOver(q, seen), r)
		}
	}},

	{"CompletesLikeAnyClaim", func(e *env) {
		q := e.request(shortLease)
		r := e.takeOver(again(q), e.over(e.won(q)))
		e.equal("state", e.report(r, done("second try")).State, store.Completed)
	}},
}
