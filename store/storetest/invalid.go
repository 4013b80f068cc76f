package storetest

import (
	"errors"
	"maps"
	"time"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

var badRequests = map[string]func(*store.Request){
	"Key":                func(q *store.Request) { q.Key = key.Key{} },
	"Token":              func(q *store.Request) { q.Token = store.Token{} },
	"Fingerprint":        func(q *store.Request) { q.Fingerprint = store.Digest{} },
	"Lease":              func(q *store.Request) { q.Lease = 0 },
	"Lease negative":     func(q *store.Request) { q.Lease = -time.Second },
	"Remaining":          func(q *store.Request) { q.Remaining = 0 },
	"Remaining negative": func(q *store.Request) { q.Remaining = -time.Second },
	"Retention negative": func(q *store.Request) { q.Retention = -time.Second },
}

// badChanges are wrong for owners and for others.
var badChanges = map[string]store.Change{
	"no verb":                {Who: "x"},
	"invented verb":          {Verb: "explode", Who: "x"},
	"history verb":           {Verb: store.Swept, Who: "x"},
	"complete, no outcome":   {Verb: store.Complete, Who: "x"},
	"fail, no outcome":       {Verb: store.Fail, Who: "x"},
	"outcome without format": {Verb: store.Complete, Outcome: &store.Outcome{Data: []byte("x")}, Who: "x"},
	"release with outcome":   {Verb: store.Release, Outcome: outcome("x"), Who: "x"},
	"negative settle":        {Verb: store.NotApplied, Settle: -1, Who: "x"},
}

var badReports = map[string]store.Change{
	"allow rerun":      {Verb: store.AllowRerun},
	"forget":           {Verb: store.Forget},
	"suspend, no time": {Verb: store.Suspend},
	"force":            {Verb: store.NotApplied, Force: true},
	"override":         {Verb: store.Complete, Outcome: outcome("x"), Override: true},
}

var badAmends = map[string]store.Change{
	"nobody":       {Verb: store.Forget},
	"mark unknown": {Verb: store.MarkUnknown, Who: "x"},
	"suspend":      {Verb: store.Suspend, For: long, Who: "x"},
}

var invalidTests = []test{
	{"Request", func(e *env) {
		for name, change := range badRequests {
			e.within(name, func(e *env) {
				q := e.request()
				change(&q)
				_, err := e.Claim(e.ctx(), q)
				e.invalid("Claim", err)
				_, err = e.TakeOver(e.ctx(), q, store.Record{Ref: q.Ref})
				e.invalid("TakeOver", err)
				_, err = e.Get(e.ctx(), q.Ref)
				e.equal("no record was made", errors.Is(err, store.ErrNotFound), true)
			})
		}
	}},
	{"Report", func(e *env) {
		r := e.won(e.request())
		for name, c := range both(badChanges, badReports) {
			e.within(name, func(e *env) {
				got, err := e.Report(e.ctx(), r.Claim(), c)
				e.refused(store.ErrInvalid, r, got, err)
				_, err = e.Report(e.ctx(), store.Claim{Ref: e.request().Ref, Token: r.Token, Fence: 1}, c)
				e.invalid("Report without a record", err)
			})
		}
		r = e.amend(r, store.Change{Verb: store.Release, Force: true})
		got, err := e.Report(e.ctx(), r.Claim(), done("by nobody"))
		e.refused(store.ErrInvalid, r, got, err) // the zero token of a revoked claim
		_, err = e.Report(e.ctx(), store.Claim{Token: store.NewToken(), Fence: 1}, done("x"))
		e.invalid("Report without a key", err)
	}},
	{"Amend", func(e *env) {
		r := e.won(e.request())
		for name, c := range both(badChanges, badAmends) {
			e.within(name, func(e *env) {
				got, err := e.Amend(e.ctx(), r, c)
				e.refused(store.ErrInvalid, r, got, err)
			})
		}
		_, err := e.Amend(e.ctx(), store.Record{}, store.Change{Verb: store.Forget, Who: "x"})
		e.invalid("Amend without a key", err)
	}},
	{"Renew", func(e *env) {
		r := e.won(e.request())
		for _, lease := range []time.Duration{0, -time.Second} {
			_, err := e.Renew(e.ctx(), lease, []store.Claim{r.Claim()})
			e.refused(store.ErrInvalid, r, store.Record{}, err)
		}
	}},
	{"List", func(e *env) {
		_, err := power[store.Lister](e).List(e.ctx(), store.Filter{Limit: -1})
		e.invalid("List", err)
	}},
	{"Janitor", func(e *env) {
		j := power[store.Janitor](e)
		for _, limit := range []int{0, -1} {
			_, err := j.Sweep(e.ctx(), limit)
			e.invalid("Sweep", err)
			_, err = j.Expire(e.ctx(), limit)
			e.invalid("Expire", err)
		}
	}},
}

func (e *env) invalid(what string, err error) {
	e.Helper()
	if !errors.Is(err, store.ErrInvalid) {
		e.Fatalf("%s: got error %v, want %v", what, err, store.ErrInvalid)
	}
}

func both(a, b map[string]store.Change) map[string]store.Change {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
