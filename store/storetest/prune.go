package storetest

import (
	"errors"
	"sync"
	"time"

	"github.com/effectonce/effectonce/store"
)

// pruner deletes records of a kind of scope that no other test has.
type pruner struct {
	*env
	store.Pruner
	kind string
}

// pruning is for stores that can delete.
func pruning(run func(p pruner)) func(*env) {
	return func(e *env) {
		if p, ok := e.Store.(store.Pruner); ok {
			run(pruner{e, p, "kind-" + store.NewToken().String()})
		}
	}
}

func (p pruner) request(change ...func(*store.Request)) store.Request {
	return p.env.request(append([]func(*store.Request){func(q *store.Request) { q.ScopeKind = p.kind }}, change...)...)
}

// old returns a record of q that was completed at least short ago.
func (p pruner) old(q store.Request) store.Record {
	p.Helper()
	r := p.report(p.won(q), done("result"))
	return p.at(r.Ref, r.Finished.Add(short))
}

// prune deletes what has been finished for an age, and returns how much that was.
func (p pruner) prune(age time.Duration, limit int) int {
	p.Helper()
	n, err := p.Prune(p.ctx(), store.Prune{Kinds: []string{"another-" + p.kind, p.kind}, Age: age, Limit: limit})
	if err != nil {
		p.Errorf("Prune: %v", err) // not Fatalf: it is called beside the test, too
	}
	return n
}

// gone insists on there being no trace of a record.
func (p pruner) gone(ref store.Ref) {
	p.Helper()
	_, err := p.Get(p.ctx(), ref)
	p.missing("Get", err)
	if h, ok := p.Store.(store.Historian); ok {
		_, err := h.History(p.ctx(), ref)
		p.missing("History", err)
	}
	if l, ok := p.Store.(store.Lister); ok {
		_, err := l.Lookup(p.ctx(), ref.Key)
		p.missing("Lookup", err)
	}
}

func (p pruner) missing(what string, err error) {
	p.Helper()
	if !errors.Is(err, store.ErrNotFound) {
		p.Fatalf("%s of a record that was deleted: got error %v, want %v", what, err, store.ErrNotFound)
	}
}

// first insists on q being the first of its action, as far as anybody knows.
func (p pruner) first(q store.Request) store.Record {
	p.Helper()
	r := p.won(q)
	p.same("the record of a first claim", r, q.First(r.Created))
	if _, ok := p.Store.(store.Historian); ok {
		p.equal("history", lines(p.history(q.Ref)), []line{{store.Claimed, "", store.InFlight, q.Who, ""}})
	}
	return r
}

var pruneTests = []test{
	{"DeletesWhatIsFinishedAndNothingElse", pruning(func(p pruner) {
		var finished, others []store.Record
		for _, s := range situations {
			r := s.make(p.env, p.request())
			if r.Done() {
				finished = append(finished, r)
			} else {
				others = append(others, r)
			}
		}
		finished = append(finished, p.old(p.request(func(q *store.Request) { q.Retention = short })))
		others = append(others,
			p.old(p.request(func(q *store.Request) { q.Root = [16]byte{} })), // it outlives runs
			p.old(p.request(func(q *store.Request) { q.ScopeKind = "no-" + p.kind })),
			p.old(p.request(func(q *store.Request) { q.ScopeKind = "" })))
		p.equal("deleted", p.prune(short, 100), len(finished))
		for _, r := range finished {
			p.gone(r.Ref)
		}
		for _, r := range others {
			p.same("a record that is "+string(r.State), p.get(r.Ref), r)
			if _, ok := p.Store.(store.Historian); ok {
				p.equal("its history is there", len(p.history(r.Ref)) > 0, true)
			}
		}
		p.equal("deleted again", p.prune(short, 100), 0)
	})},

	{"WhatIsYoungStays", pruning(func(p pruner) {
		young, overridden := p.old(p.request()), p.old(p.request())
		p.equal("deleted", p.prune(long, 100), 0)
		p.same("the young one", p.get(young.Ref), young)
		clock, ok := p.Store.(Advancer)
		if !ok {
			return // a real clock does not stand still
		}
		clock.Advance(young.Finished.Add(long - time.Microsecond).Sub(p.get(young.Ref).Now))
		c := done("in fact")
		c.Override = true
		overridden = p.amend(p.get(overridden.Ref), c) // its outcome is young
		p.equal("deleted a microsecond early", p.prune(long, 100), 0)
		clock.Advance(time.Microsecond)
		p.equal("deleted in time", p.prune(long, 100), 1)
		p.gone(young.Ref)
		p.same("the other", p.get(overridden.Ref), overridden)
	})},

	{"LimitIsKept", pruning(func(p pruner) {
		for range 5 {
			p.old(p.request())
		}
		for _, want := range []int{2, 2, 1, 0} {
			p.equal("deleted", p.prune(short, 2), want)
		}
	})},

	{"WhoeverAsksAgainIsTheFirst", pruning(func(p pruner) {
		q := p.request(func(q *store.Request) { q.Scheduled = digest() })
		p.amend(p.report(p.won(q), done("x")), store.Change{Verb: store.AllowRerun})
		second := again(q)
		second.Scheduled = digest()
		seen := p.old(second)
		p.equal("fence and generation", []int64{seen.Fence, int64(seen.Generation)}, []int64{2, 2})
		if _, ok := p.Store.(store.Historian); ok {
			p.equal("lines of history", len(p.history(q.Ref)), 5)
		}
		p.equal("deleted", p.prune(short, 100), 1)
		p.gone(q.Ref)
		p.first(again(second))
	})},

	{"ItsScheduledActivityIsFree", pruning(func(p pruner) {
		q := p.request(func(q *store.Request) { q.Scheduled = digest() })
		p.old(q)
		p.equal("deleted", p.prune(short, 100), 1)
		p.first(p.request(func(other *store.Request) { other.Scheduled = q.Scheduled }))
	})},

	{"WhatRefersToItChangesNothing", pruning(func(p pruner) {
		q := p.request()
		seen := p.old(q)
		p.equal("deleted", p.prune(short, 100), 1)
		for range 2 {
			_, err := p.Amend(p.ctx(), seen, store.Change{Verb: store.Forget, Who: "operator"})
			p.equal("Amend is refused", errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict), true)
			_, err = p.Report(p.ctx(), seen.Claim(), done("late"))
			p.equal("Report is refused", errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrLeaseLost), true)
			p.equal("lost", p.renew(long, seen.Claim()), []store.Claim{seen.Claim()})
			if _, err = p.Get(p.ctx(), q.Ref); err == nil {
				break
			}
			p.first(again(q))
		}
		p.equal("state", p.get(q.Ref).State, store.InFlight)
	})},

	{"BesideClaimsAndAmendmentsItIsAllOrNothing", pruning(func(p pruner) {
		for range 20 {
			q := p.request()
			seen := p.old(q)
			c := done("in fact")
			c.Override, c.Who = true, "operator"
			var all sync.WaitGroup
			all.Go(func() { p.prune(short, 1) })
			all.Go(func() {
				if _, err := p.Amend(p.ctx(), seen, c); err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
					p.Errorf("Amend: %v", err)
				}
			})
			r := p.claim(again(q))
			all.Wait()
			if r.State == store.InFlight {
				p.equal("fence", r.Fence, int64(1))
				p.report(r, done("x"))
			} else if _, err := p.Get(p.ctx(), q.Ref); errors.Is(err, store.ErrNotFound) {
				p.first(again(q))
				continue
			}
			if _, ok := p.Store.(store.Historian); ok {
				h := p.history(q.Ref)
				p.equal("begins with", h[0].Verb, store.Claimed)
				p.equal("ends with", h[len(h)-1].Verb, store.Complete)
				p.equal("has more only if it was overridden", len(h) == 2 || r.State != store.InFlight && len(h) == 3, true)
			}
		}
	})},

	{"SeveralAtOnceDeleteEachOnce", pruning(func(p pruner) {
		const records = 40
		for range records {
			p.old(p.request())
		}
		var counts [4]int
		var all sync.WaitGroup
		for i := range counts {
			all.Go(func() { counts[i] = p.prune(short, records) })
		}
		all.Wait()
		total := p.prune(short, records) // what all have passed over
		for _, n := range counts {
			total += n
		}
		p.equal("deleted in all", total, records)
	})},

	{"Invalid", pruning(func(p pruner) {
		r := p.old(p.request())
		good := store.Prune{Kinds: []string{p.kind}, Age: short, Limit: 1}
		for name, change := range map[string]func(*store.Prune){
			"no kinds":       func(w *store.Prune) { w.Kinds = nil },
			"an empty kind":  func(w *store.Prune) { w.Kinds = []string{p.kind, ""} },
			"no age":         func(w *store.Prune) { w.Age = 0 },
			"negative age":   func(w *store.Prune) { w.Age = -time.Second },
			"no limit":       func(w *store.Prune) { w.Limit = 0 },
			"negative limit": func(w *store.Prune) { w.Limit = -1 },
		} {
			wrong := good
			change(&wrong)
			_, err := p.Prune(p.ctx(), wrong)
			p.refused(store.ErrInvalid, r, store.Record{}, err)
			p.equal(name+" is told", err.Error() != store.ErrInvalid.Error(), true)
		}
	})},
}
