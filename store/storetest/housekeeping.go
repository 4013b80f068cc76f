package storetest

import (
	"context"
	"time"

	"github.com/effectonce/effectonce/store"
)

// sweep and expire work until a pass finds nothing: a shared store may hold what
// earlier subtests left.
func (e *env) sweep() int  { e.Helper(); return e.tidy("Sweep", power[store.Janitor](e).Sweep) }
func (e *env) expire() int { e.Helper(); return e.tidy("Expire", power[store.Janitor](e).Expire) }

var housekeepingTests = []test{
	{"SweepWritesDownWhatNobodyKnowsAndNothingElse", func(e *env) {
		e.sweep()
		type was struct {
			name string
			r    store.Record
		}
		var all []was
		for _, s := range situations {
			all = append(all, was{s.name, s.make(e, e.request())})
		}
		renewed := e.over(e.won(e.request(shortLease)))
		e.renew(long, renewed.Claim())
		e.equal("swept", e.sweep(), 2)
		for _, a := range all {
			got := e.get(a.r.Ref)
			switch a.name {
			case "InFlightLeaseOver":
				a.r.State = store.Unknown
			case "PendingOverdue":
				a.r.State, a.r.Lease = store.Unknown, time.Time{} // its owner does not renew
			}
			e.same(a.name, got, a.r)
		}
		e.equal("the renewed claim", e.get(renewed.Ref).State, store.InFlight)
		if _, ok := e.Store.(store.Historian); ok {
			h := lines(e.history(all[1].r.Ref))
			e.equal("history", h[len(h)-1], line{store.Swept, store.InFlight, store.Unknown, "", ""})
		}
		e.equal("swept again", e.sweep(), 0)
	}},

	{"SweptClaimIsStillItsOwners", func(e *env) {
		sweep := func() store.Record {
			r := e.over(e.won(e.request(shortLease)))
			e.sweep()
			e.equal("state", e.get(r.Ref).State, store.Unknown)
			return r
		}
		for _, c := range ownerVerbs {
			owner := sweep()
			r := e.report(owner, c)
			e.renew(long, owner.Claim())
			e.same("after "+string(c.Verb)+" and a late renewal", e.get(owner.Ref), r)
		}
		owner := sweep()
		e.equal("lost", len(e.renew(long, owner.Claim())), 0)
		e.equal("live", e.get(owner.Ref).Live(), true)
	}},

	{"FreedByAnOperatorButStillAliveKeepsOthersAway", func(e *env) {
		owner := e.over(e.won(e.request(shortDeadline)))
		e.sweep()
		e.amend(e.get(owner.Ref), store.Change{Verb: store.Release, Force: true})
		e.equal("lost", len(e.renew(long, owner.Claim())), 0)
		e.equal("live", e.get(owner.Ref).Live(), true)

		// But not once it has ended its claim, whatever is still under way.
		for _, c := range ownerVerbs[2:4] {
			for _, freed := range []store.Verb{store.Release, store.NotApplied} {
				owner = e.over(e.won(e.request(shortDeadline)))
				e.sweep()
				e.amend(e.get(owner.Ref), store.Change{Verb: freed, Force: true})
				r := e.report(owner, c)
				e.equal("generation", r.Generation, map[bool]int{true: 1, false: 2}[freed == store.Release && c.Verb == store.Release])
				e.renew(long, owner.Claim())
				e.same("after the owner's "+string(c.Verb), e.get(owner.Ref), r)
			}
		}
	}},

	{"LimitsAreKept", func(e *env) {
		j := power[store.Janitor](e)
		e.sweep()
		e.expire()
		for range 5 {
			e.over(e.won(e.request(shortLease)))
			r := e.report(e.won(e.request(func(q *store.Request) { q.Retention = short })), done("x"))
			e.at(r.Ref, r.Finished.Add(short))
		}
		for _, f := range []func() (int, error){
			func() (int, error) { return j.Sweep(e.ctx(), 2) },
			func() (int, error) { return j.Expire(e.ctx(), 2) },
		} {
			for _, want := range []int{2, 2, 1, 0} {
				n, err := f()
				e.equal("error", err, nil)
				e.equal("changed", n, want)
			}
		}
	}},

	{"OutcomeGoesAfterItsRetentionAndTheRowStays", func(e *env) {
		q := e.request(func(q *store.Request) { q.Retention = 20 * time.Millisecond })
		r := e.report(e.won(q), done("x"))
		e.at(q.Ref, r.Finished.Add(q.Retention))
		e.equal("expired", e.expire() > 0, true)
		got := e.get(q.Ref)
		e.equal("Expired", got.Expired(), true)
		want := r
		want.Outcome = nil
		e.same("the row", got, want)
		e.same("a duplicate", e.claim(again(q)), want)
		e.same("another input", e.claim(otherInput(q)), want)
		e.same("the owner's repeated report", e.report(r, done("x")), want)
		e.equal("expired again", e.expire(), 0)
		if _, ok := e.Store.(store.Historian); ok {
			h := lines(e.history(q.Ref))
			e.equal("history", h[len(h)-1], line{store.Expired, store.Completed, store.Completed, "", ""})
		}
		c := done("again")
		c.Override = true
		now := e.amend(want, c)
		e.equal("overridden", data(now), "again")
		e.at(q.Ref, now.Finished.Add(q.Retention))
		e.expire()
		e.equal("expired once more", e.get(q.Ref).Expired(), true)
	}},

	{"RunAnewAfterItsRetention", func(e *env) {
		q := e.request(func(q *store.Request) { q.Retention = 20 * time.Millisecond })
		r := e.report(e.won(q), done("x"))
		e.at(q.Ref, r.Finished.Add(q.Retention))
		e.expire()
		r = e.amend(e.get(q.Ref), store.Change{Verb: store.Forget, Who: "o", Why: "w"})
		e.expire()
		r = e.report(e.won(again(q)), done("y"))
		e.equal("the new outcome", data(e.get(q.Ref)), "y")
		e.at(q.Ref, r.Finished.Add(q.Retention))
		e.expire()
		e.equal("expired", e.get(q.Ref).Expired(), true)
		if _, ok := e.Store.(store.Historian); ok {
			var verbs []store.Verb
			for _, l := range lines(e.history(q.Ref)) {
				verbs = append(verbs, l.verb)
			}
			e.equal("history", verbs, []store.Verb{
				store.Claimed, store.Complete, store.Expired, store.Forget, store.Claimed, store.Complete, store.Expired,
			})
		}
	}},

	{"FinishedLateExpiresLate", func(e *env) {
		for _, f := range []struct {
			name   string
			finish func(store.Record) store.Record
		}{
			{"by its owner", func(r store.Record) store.Record { return e.report(r, done("x")) }},
			{"by an operator", func(r store.Record) store.Record {
				r = e.report(r, store.Change{Verb: store.MarkUnknown, Who: "w"})
				return e.amend(r, done("x"))
			}},
		} {
			r := e.won(e.request(func(q *store.Request) { q.Retention = 20 * time.Millisecond }))
			e.at(r.Ref, r.Expires)
			e.expire() // and finds nothing to do
			r = f.finish(r)
			e.equal("kept "+f.name, data(e.get(r.Ref)), "x")
			e.at(r.Ref, r.Finished.Add(r.Retention))
			e.expire()
			e.equal("finished "+f.name+", expired", e.get(r.Ref).Expired(), true)
		}
	}},

	{"OutcomeStaysWhileItsRetentionRuns", func(e *env) {
		keep := func(retention time.Duration) store.Request {
			return e.request(func(q *store.Request) { q.Retention = retention })
		}
		forEver := e.report(e.won(keep(0)), done("x"))
		later := e.report(e.won(keep(long)), failed("x"))
		// Claimed long ago, finished just now: retention counts from completion.
		slow := e.won(keep(20 * time.Millisecond))
		e.at(slow.Ref, slow.Expires)
		slow = e.report(slow, done("x"))
		e.expire()
		for _, r := range []store.Record{forEver, later} {
			e.same("kept", e.get(r.Ref), r)
		}
		got := e.get(slow.Ref)
		if got.Outcome == nil && got.Now.Before(slow.Finished.Add(slow.Retention)) {
			e.Fatal("the outcome went before its retention was over")
		}
	}},

	{"UnfinishedNeverExpires", func(e *env) {
		for _, s := range situations {
			r := s.make(e, e.request(func(q *store.Request) { q.Retention = short }))
			if r.Done() {
				continue
			}
			r = e.at(r.Ref, r.Expires)
			e.expire()
			e.same(s.name, e.get(r.Ref), r)
		}
	}},

	{"RetentionIsExact", func(e *env) {
		clock, ok := e.Store.(Advancer)
		if !ok {
			return // a real clock does not stand still
		}
		q := e.request(func(q *store.Request) { q.Retention = time.Hour })
		r := e.won(q)
		clock.Advance(10 * time.Minute)
		r = e.report(r, done("x")) // kept until an hour after this, not after the claim
		clock.Advance(time.Hour - time.Microsecond)
		e.equal("expired a microsecond early", e.expire(), 0)
		clock.Advance(time.Microsecond)
		e.equal("expired in time", e.expire(), 1)
		e.equal("Expired", e.get(r.Ref).Expired(), true)
	}},
}

func (e *env) tidy(what string, f func(context.Context, int) (int, error)) (total int) {
	e.Helper()
	for {
		n, err := f(e.ctx(), 1000)
		if err != nil {
			e.Fatalf("%s: %v", what, err)
		}
		if total += n; n == 0 {
			return total
		}
	}
}
