package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Leases that no test outlives, and leases that are over at once.
const (
	long  = time.Hour
	short = 2 * time.Millisecond
)

// env is what one subtest works with.
type env struct {
	*testing.T
	store.Store
	options
}

func (e *env) ctx() context.Context { return e.Context() }

// request asks for an action that nobody has asked for before.
func (e *env) request(change ...func(*store.Request)) store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "tenant", ScopeID: "acme", Tenant: "acme",
		Operation: "Refund", WorkflowID: "order-7", RunID: "run-1", Attempt: 1,
		Fields: []byte{1, 2, 3}, Lease: long, Remaining: long, Who: "worker-1",
	}
	rand.Read(q.Root[:])
	rand.Read(q.Key[:])
	rand.Read(q.Fingerprint[:])
	for _, c := range change {
		c(&q)
	}
	return q
}

// again is another attempt at the action of q.
func again(q store.Request) store.Request {
	q.Token = store.NewToken()
	q.Attempt++
	return q
}

func shortLease(q *store.Request)    { q.Lease = short }
func shortDeadline(q *store.Request) { q.Lease, q.Remaining = short, short }

func (e *env) claim(q store.Request) store.Record {
	e.Helper()
	r, err := e.Claim(e.ctx(), q)
	if err != nil {
		e.Fatalf("Claim: %v", err)
	}
	return r
}

// won claims q and insists on owning it.
func (e *env) won(q store.Request) store.Record {
	e.Helper()
	r := e.claim(q)
	if r.State != store.InFlight || r.Token != q.Token || r.Ref != q.Ref {
		e.Fatalf("the claim was not won: got a record that is %s, of token %s at fence %d", r.State, r.Token, r.Fence)
	}
	return r
}

func (e *env) report(r store.Record, c store.Change) store.Record {
	e.Helper()
	next, err := e.Report(e.ctx(), r.Claim(), c)
	if err != nil {
		e.Fatalf("Report %s on a record that is %s: %v", c.Verb, r.State, err)
	}
	return next
}

func (e *env) amend(seen store.Record, c store.Change) store.Record {
	e.Helper()
	if c.Who == "" {
		c.Who, c.Why = "operator", "because"
	}
	next, err := e.Amend(e.ctx(), seen, c)
	if err != nil {
		e.Fatalf("Amend %s on a record that is %s: %v", c.Verb, seen.State, err)
	}
	return next
}

func (e *env) takeOver(q store.Request, seen store.Record) store.Record {
	e.Helper()
	r, err := e.TakeOver(e.ctx(), q, seen)
	if err != nil {
		e.Fatalf("TakeOver of a record that is %s: %v", seen.State, err)
	}
	return r
}

func (e *env) renew(lease time.Duration, held ...store.Claim) (lost []store.Claim) {
	e.Helper()
	lost, err := e.Renew(e.ctx(), lease, held)
	if err != nil {
		e.Fatalf("Renew: %v", err)
	}
	return lost
}

func (e *env) get(ref store.Ref) store.Record {
	e.Helper()
	r, err := e.Get(e.ctx(), ref)
	if err != nil {
		e.Fatalf("Get: %v", err)
	}
	return r
}

// at waits until the store's clock has reached a moment, and returns the record.
func (e *env) at(ref store.Ref, moment time.Time) store.Record {
	e.Helper()
	for patience := time.Now().Add(30 * time.Second); time.Now().Before(patience); {
		r := e.get(ref)
		if !r.Now.Before(moment) {
			return r
		}
		e.pass(moment.Sub(r.Now))
	}
	e.Fatalf("the store's clock did not reach %s", moment)
	return store.Record{}
}

// pass lets some of the store's time pass.
func (e *env) pass(d time.Duration) {
	if c, ok := e.Store.(Advancer); ok {
		c.Advance(d)
		return
	}
	time.Sleep(min(max(d, time.Millisecond), 10*time.Millisecond))
}

// over waits until the lease of r is over, and returns the record as it is then.
func (e *env) over(r store.Record) store.Record {
	e.Helper()
	r = e.at(r.Ref, r.Lease)
	if !r.Uncertain() {
		e.Fatalf("a record that is %s, with its lease over, does not count as unknown", r.State)
	}
	return r
}

// refused insists on an error, and on the record being as it was: by the answer,
// if it holds a record, and by asking again.
func (e *env) refused(want error, was store.Record, got store.Record, err error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Fatalf("got error %v, want %v", err, want)
	}
	if got.Fence != 0 {
		e.same("the record that came with the refusal", got, was)
	}
	e.same("the record after the refusal", e.get(was.Ref), was)
}

// same insists on two records being equal in everything but the clock.
func (e *env) same(what string, got, want store.Record) {
	e.Helper()
	if d := diff(got, want); d != "" {
		e.Fatalf("%s differs (got, want):%s", what, d)
	}
}

func (e *env) equal(what string, got, want any) {
	e.Helper()
	if !reflect.DeepEqual(got, want) {
		e.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// data is the outcome's data, or a text that says that there is none.
func data(r store.Record) string {
	if r.Outcome == nil {
		return "(no outcome)"
	}
	return string(r.Outcome.Data)
}

func done(data string) store.Change {
	return store.Change{Verb: store.Complete, Outcome: outcome(data)}
}

func failed(data string) store.Change {
	return store.Change{Verb: store.Fail, Outcome: outcome(data)}
}

func outcome(data string) *store.Outcome {
	return &store.Outcome{Format: "text", Data: []byte(data), Context: []byte("context")}
}

func digest() (d store.Digest) {
	rand.Read(d[:])
	return d
}
