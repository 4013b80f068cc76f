package storetest

import (
	"errors"
	"slices"

	"github.com/effectonce/effectonce/store"
)

// list returns all records that a filter selects, page by page.
func (e *env) list(f store.Filter) (all []store.Record) {
	e.Helper()
	l := power[store.Lister](e)
	for range 300 {
		page, err := l.List(e.ctx(), f)
		if err != nil {
			e.Fatalf("List: %v", err)
		}
		if len(page) > f.Size() {
			e.Fatalf("a page of at most %d has %d records", f.Size(), len(page))
		}
		all = append(all, page...)
		if len(page) < f.Size() {
			return all
		}
		f.After = page[len(page)-1].Ref
	}
	e.Fatal("the pages do not end")
	return nil
}

func refs(records []store.Record) (all []store.Ref) {
	for _, r := range records {
		all = append(all, r.Ref)
	}
	return all
}

var listTests = []test{
	{"LookupFindsByTheKeyAlone", func(e *env) {
		l := power[store.Lister](e)
		r := e.won(e.request())
		got, err := l.Lookup(e.ctx(), r.Key)
		e.equal("error", err, nil)
		e.same("the record", got, r)
		_, err = l.Lookup(e.ctx(), e.request().Key)
		e.equal("ErrNotFound", errors.Is(err, store.ErrNotFound), true)
	}},

	{"EveryFilterSelectsItsFieldAlone", func(e *env) {
		power[store.Lister](e)
		operation := "op-" + store.NewToken().String() // nobody else's records
		q := e.request()
		q.Operation, q.ScopeKind, q.ScopeID, q.Tenant, q.WorkflowID = operation, "agent", "a-1", "t-1", "w-1"
		r := e.won(q)
		for name, change := range map[string]func(*store.Request){
			"ScopeKind":  func(q *store.Request) { q.ScopeKind = "agent2" },
			"ScopeID":    func(q *store.Request) { q.ScopeID = "a-" },
			"Tenant":     func(q *store.Request) { q.Tenant = "T-1" },
			"WorkflowID": func(q *store.Request) { q.WorkflowID = "" },
			"Operation":  func(q *store.Request) { q.Operation = operation + "%" },
			"State":      func(q *store.Request) {},
		} {
			other := e.request()
			other.Operation, other.ScopeKind, other.ScopeID = q.Operation, q.ScopeKind, q.ScopeID
			other.Tenant, other.WorkflowID = q.Tenant, q.WorkflowID
			change(&other)
			o := e.won(other)
			if name == "State" {
				e.report(o, done("x"))
			}
		}
		full := store.Filter{
			State: store.InFlight, ScopeKind: "agent", ScopeID: "a-1", Tenant: "t-1", Operation: operation, WorkflowID: "w-1",
		}
		got := e.list(full)
		e.equal("selected by all", refs(got), []store.Ref{r.Ref})
		e.same("the record", got[0], r)
		for name, drop := range map[string]func(*store.Filter){
			"State":      func(f *store.Filter) { f.State = "" },
			"ScopeKind":  func(f *store.Filter) { f.ScopeKind = "" },
			"ScopeID":    func(f *store.Filter) { f.ScopeID = "" },
			"Tenant":     func(f *store.Filter) { f.Tenant = "" },
			"WorkflowID": func(f *store.Filter) { f.WorkflowID = "" },
		} {
			f := full
			drop(&f)
			e.equal("selected without "+name, len(e.list(f)), 2)
		}
	}},

	{"UncertainIsWhatNobodyKnowsNow", func(e *env) {
		power[store.Lister](e)
		operation := "op-" + store.NewToken().String()
		var want []store.Ref
		for _, s := range situations {
			q := e.request()
			q.Operation = operation
			if r := s.make(e, q); r.Uncertain() {
				want = append(want, r.Ref)
			}
		}
		slices.SortFunc(want, store.Ref.Compare)
		e.equal("uncertain", refs(e.list(store.Filter{Operation: operation, Uncertain: true})), want)
		e.equal("uncertain and in flight", len(e.list(store.Filter{Operation: operation, Uncertain: true, State: store.InFlight})), 1)
	}},

	{"PagesAreInOrderAndComplete", func(e *env) {
		l := power[store.Lister](e)
		operation := "op-" + store.NewToken().String()
		var want []store.Ref
		root := e.request().Root
		for i := range 105 {
			q := e.request()
			q.Operation = operation
			if i%2 == 0 {
				q.Root = root // many under one root
			}
			want = append(want, e.won(q).Ref)
		}
		slices.SortFunc(want, store.Ref.Compare)
		for _, limit := range []int{1, 7, 104, 105, 106, 1000, 5000} {
			e.equal("all pages", refs(e.list(store.Filter{Operation: operation, Limit: limit})), want)
		}
		page, err := l.List(e.ctx(), store.Filter{Operation: operation})
		e.equal("error", err, nil)
		e.equal("a page without a limit", refs(page), want[:store.DefaultLimit])
		page, err = l.List(e.ctx(), store.Filter{Operation: operation, After: want[104]})
		e.equal("error", err, nil)
		e.equal("behind the last", len(page), 0)
	}},
}
