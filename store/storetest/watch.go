package storetest

import (
	"errors"
	"time"

	"github.com/effectonce/effectonce/store"
)

// process is a store as one process has it, with its clock.
type process struct {
	*env
	Advancer
}

// newcomer returns the store under test and one that has seen nothing of it yet.
func (e *env) newcomer() (owner, newcomer process) {
	e.Helper()
	other := &env{T: e.T, Store: e.peer(e.T, e.Store), options: e.options}
	return process{e, power[Advancer](e)}, process{other, power[Advancer](other)}
}

// watched is for stores whose leases are watched.
func watched(run func(owner, newcomer process)) func(*env) {
	return func(e *env) {
		if e.peer != nil {
			run(e.newcomer())
		}
	}
}

// live insists on a record that nobody can take over, and that is live for so long.
func (p process) live(q store.Request, left time.Duration) {
	p.Helper()
	r := p.get(q.Ref)
	p.equal("live", r.Live(), true)
	p.equal("left of the lease", r.Lease.Sub(r.Now), left)
	got, err := p.TakeOver(p.ctx(), again(q), r)
	p.refused(store.ErrConflict, r, got, err)
}

const instant = time.Microsecond

var watchTests = []test{
	{"NewcomerWatchesAWholeLease", watched(func(owner, newcomer process) {
		q := owner.request()
		r := owner.won(q)
		owner.Advance(100 * long)
		owner.over(r)
		newcomer.Advance(100 * long) // before it has seen anything
		newcomer.live(q, long)
		newcomer.Advance(long - instant)
		newcomer.live(q, instant)
		newcomer.Advance(instant)
		seen := newcomer.get(q.Ref)
		newcomer.equal("uncertain", seen.Uncertain(), true)
		q = again(q)
		r = newcomer.takeOver(q, seen)
		newcomer.equal("fence", r.Fence, int64(2))
		owner.live(q, long) // which is now the newcomer here
	})},

	{"RenewalStartsTheWatchAgain", watched(func(owner, newcomer process) {
		q := owner.request()
		r := owner.won(q)
		for range 3 {
			newcomer.live(q, long)
			newcomer.Advance(long - instant)
			owner.renew(long, r.Claim())
		}
		newcomer.live(q, long)
		newcomer.Advance(long)
		newcomer.equal("uncertain", newcomer.get(q.Ref).Uncertain(), true)
	})},

	{"RenewalThatWasNotSeenKeepsOthersAway", watched(func(owner, newcomer process) {
		q := owner.request()
		r := owner.won(q)
		seen := newcomer.get(q.Ref)
		newcomer.Advance(long)
		owner.renew(long, r.Claim())
		_, err := newcomer.TakeOver(newcomer.ctx(), again(q), seen)
		newcomer.equal("ErrConflict", errors.Is(err, store.ErrConflict), true)
		newcomer.live(q, long)
	})},

	{"OneOfTwoWhoWatchedTakesOver", watched(func(owner, newcomer process) {
		q := owner.request()
		r := owner.won(q)
		newcomer.get(q.Ref)
		owner.Advance(long)
		newcomer.Advance(long)
		mine, theirs := owner.over(r), newcomer.get(q.Ref)
		newcomer.takeOver(again(q), theirs)
		_, err := owner.TakeOver(owner.ctx(), again(q), mine)
		owner.equal("ErrConflict", errors.Is(err, store.ErrConflict), true)
	})},

	{"WhatIsWrittenDownNeedsNoWatch", watched(func(owner, newcomer process) {
		for _, end := range []store.Verb{store.MarkUnknown, store.Release} {
			q := owner.request()
			owner.report(owner.won(q), store.Change{Verb: end})
			q = again(q)
			r := newcomer.claim(q)
			if end == store.MarkUnknown {
				r = newcomer.takeOver(q, r)
			}
			newcomer.equal("token after "+string(end), r.Token, q.Token)
		}
		q := owner.request()
		owner.report(owner.won(q), done("x"))
		newcomer.equal("outcome", data(newcomer.claim(again(q))), "x")
	})},

	{"NewcomerWatchesDeadlines", watched(func(owner, newcomer process) {
		q := owner.request()
		owner.report(owner.won(q), store.Change{Verb: store.MarkUnknown})
		newcomer.Advance(100 * long)
		unsettled := func(settle time.Duration) {
			newcomer.Helper()
			r := newcomer.get(q.Ref)
			got, err := newcomer.Amend(newcomer.ctx(), r, store.Change{Verb: store.NotApplied, Settle: settle, Who: "operator"})
			newcomer.refused(store.ErrUnsettled, r, got, err)
		}
		unsettled(0)
		newcomer.Advance(long - instant)
		unsettled(0)
		newcomer.Advance(instant)
		unsettled(instant)
		newcomer.amend(newcomer.get(q.Ref), settle(store.NotApplied, 0))
	})},

	{"DeadlinesOfAttemptsBeforeAreHandedOn", watched(func(owner, newcomer process) {
		q := owner.request()
		owner.report(owner.won(q), store.Change{Verb: store.MarkUnknown})
		next := again(with(q, shortDeadline))
		r := owner.takeOver(next, owner.get(q.Ref))
		owner.report(r, store.Change{Verb: store.MarkUnknown})
		newcomer.Advance(100 * long)
		r = newcomer.takeOver(again(q), newcomer.get(q.Ref))
		newcomer.equal("deadline of the attempts before", r.Prior.Sub(r.Now), long)
		got, err := newcomer.Report(newcomer.ctx(), r.Claim(), settle(store.NotApplied, 0))
		newcomer.refused(store.ErrUnsettled, r, got, err)
	})},
}
