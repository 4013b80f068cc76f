package storetest

import (
	"testing"

	"github.com/effectonce/effectonce/store"
)

// situation is one way in which a record can be, and how it gets there from q.
type situation struct {
	name string
	make func(e *env, q store.Request) store.Record
}

// situations are all states, with those apart in which the lease is over. Records
// get there with a lease and a deadline that are over wherever that matters.
var situations = []situation{
	{"InFlight", func(e *env, q store.Request) store.Record { return e.won(q) }},
	{"InFlightLeaseOver", func(e *env, q store.Request) store.Record {
		return e.over(e.won(with(q, shortDeadline)))
	}},
	{"Pending", func(e *env, q store.Request) store.Record {
		return e.report(e.won(q), store.Change{Verb: store.Suspend, For: long})
	}},
	{"PendingOverdue", func(e *env, q store.Request) store.Record {
		return e.over(e.report(e.won(with(q, shortDeadline)), store.Change{Verb: store.Suspend, For: short}))
	}},
	{"Completed", func(e *env, q store.Request) store.Record { return e.report(e.won(q), done("result")) }},
	{"Failed", func(e *env, q store.Request) store.Record { return e.report(e.won(q), failed("declined")) }},
	{"Free", func(e *env, q store.Request) store.Record {
		return e.report(e.won(q), store.Change{Verb: store.Release})
	}},
	{"Unknown", func(e *env, q store.Request) store.Record {
		r := e.won(with(q, shortDeadline))
		return e.at(q.Ref, e.report(r, store.Change{Verb: store.MarkUnknown}).Deadline)
	}},
}

func with(q store.Request, change func(*store.Request)) store.Request {
	change(&q)
	return q
}

// inEvery runs a check for a fresh record in every situation.
func inEvery(check func(e *env, q store.Request, r store.Record)) func(*env) {
	return func(e *env) {
		for _, s := range situations {
			q := e.request()
			r := s.make(e, q)
			e.within(s.name, func(e *env) { check(e, q, r) })
		}
	}
}

// within names a part of a test. The part is a subtest, but works on the same store.
func (e *env) within(name string, f func(*env)) {
	e.Run(name, func(t *testing.T) { f(&env{T: t, Store: e.Store, options: e.options}) })
}

// inEachFor runs a check for every change, each for a fresh record in every situation.
func inEachFor(changes []store.Change, check func(e *env, c store.Change, q store.Request, r store.Record)) func(*env) {
	return func(e *env) {
		for _, c := range changes {
			e.within(string(c.Verb), inEvery(func(e *env, q store.Request, r store.Record) { check(e, c, q, r) }))
		}
	}
}
