package storetest

import (
	"errors"

	"github.com/effectonce/effectonce/store"
)

var claimTests = []test{
	{"FirstClaimOwnsTheRecord", func(e *env) {
		q := e.request()
		r := e.won(q)
		e.equal("fence", r.Fence, int64(1))
		e.equal("generation", r.Generation, 1)
		e.equal("live", r.Live(), true)
		e.equal("lease", r.Lease.Sub(r.Now), q.Lease)
		e.equal("deadline", r.Deadline.Sub(r.Now), q.Remaining)
		e.equal("created at the store's now", r.Created.Equal(r.Now), true)
		e.same("what Get returns", e.get(q.Ref), r)
	}},

	{"UnknownRecordIsNotFound", func(e *env) {
		q := e.request()
		_, err := e.Get(e.ctx(), q.Ref)
		e.equal("ErrNotFound from Get", errors.Is(err, store.ErrNotFound), true)
		_, err = e.TakeOver(e.ctx(), q, store.Record{Ref: q.Ref})
		e.equal("ErrNotFound from TakeOver", errors.Is(err, store.ErrNotFound), true)
		_, err = e.Report(e.ctx(), store.Claim{Ref: q.Ref, Token: q.Token, Fence: 1}, done("x"))
		e.equal("ErrNotFound from Report", errors.Is(err, store.ErrNotFound), true)
		_, err = e.Amend(e.ctx(), store.Record{Ref: q.Ref}, store.Change{Verb: store.Forget, Who: "operator"})
		e.equal("ErrNotFound from Amend", errors.Is(err, store.ErrNotFound), true)
		_, err = e.Get(e.ctx(), q.Ref)
		e.equal("ErrNotFound after all of these", errors.Is(err, store.ErrNotFound), true)
	}},

	{"DuplicateGetsTheOutcomeAndChangesNothing", func(e *env) {
		q := e.request()
		r := e.report(e.won(q), done("receipt 7"))
		for range 3 {
			q = again(q)
			got := e.claim(q)
			e.same("the answer to a duplicate", got, r)
			e.equal("outcome", data(got), "receipt 7")
		}
		e.same("the record after the duplicates", e.get(q.Ref), r)
	}},

	{"DuplicateWhileInFlightSeesTheOwner", func(e *env) {
		q := e.request()
		r := e.won(q)
		e.same("the answer to a duplicate", e.claim(again(q)), r)
	}},

	{"NothingButFreeIsClaimable", inEvery(func(e *env, q store.Request, r store.Record) {
		q = again(q)
		got := e.claim(q)
		if r.State != store.Free {
			e.same("the answer", got, r)
			e.same("the record", e.get(q.Ref), r)
			return
		}
		e.equal("state", got.State, store.InFlight)
		e.equal("token", got.Token, q.Token)
		e.equal("fence", got.Fence, r.Fence+1)
	})},

	{"RepeatedClaimIsTheSameClaim", func(e *env) {
		q := e.request()
		r := e.won(q)
		for range 3 {
			e.same("the repeated claim", e.claim(q), r)
		}
		// The same for a claim of a record that was free.
		e.report(r, store.Change{Verb: store.Release})
		q = again(q)
		r = e.won(q)
		e.same("the repeated claim of a free record", e.claim(q), r)
	}},

	{"LateCopyOfAClaimDoesNotClaimWhatItsOwnerEnded", func(e *env) {
		for _, end := range []store.Change{
			{Verb: store.Release}, {Verb: store.NotApplied}, {Verb: store.MarkUnknown}, {Verb: store.Suspend, For: long},
			done("x"), failed("x"),
		} {
			q := e.request()
			r := e.report(e.won(q), end)
			e.same("the answer after "+string(end.Verb), e.claim(q), r)
		}
	}},

	{"FenceGrowsOverEveryClaimAndNeverRestarts", func(e *env) {
		q := e.request(shortDeadline)
		r := e.won(q)
		fence := r.Fence
		next := func(how string, got store.Record) {
			e.Helper()
			e.equal("fence after "+how, got.Fence, fence+1)
			fence, r = got.Fence, got
		}
		claim := func() store.Record { q = again(q); return e.won(q) }

		e.report(r, store.Change{Verb: store.Release})
		next("release", claim())
		e.amend(e.over(r), store.Change{Verb: store.AllowRerun, Force: true})
		next("allow-rerun", claim())
		e.report(r, done("x"))
		e.amend(e.get(q.Ref), store.Change{Verb: store.Forget})
		next("forget", claim())
		q = again(q)
		next("take-over", e.takeOver(q, e.over(r)))
		e.at(q.Ref, r.Prior)
		e.report(r, store.Change{Verb: store.NotApplied})
		next("not applied", claim())
		e.report(r, failed("x"))
		e.equal("fence when finished", e.get(q.Ref).Fence, fence)
	}},

	{"LastClaimFillsTheReadableColumns", func(e *env) {
		q := e.request()
		first := e.won(q)
		e.report(first, store.Change{Verb: store.Release})
		q = again(q)
		q.WorkflowID, q.RunID, q.Attempt, q.Intent = "other", "run-2", 3, "turn-9"
		q.Scheduled = digest()
		r := e.won(q)
		e.equal("workflow", r.WorkflowID+"/"+r.RunID, "other/run-2")
		e.equal("attempt", r.Attempt, 3)
		e.equal("intent", r.Intent, "turn-9")
		e.equal("scheduled", r.Scheduled, q.Scheduled)
		e.equal("created", r.Created.Equal(first.Created), true)
	}},
}
