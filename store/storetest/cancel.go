package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/effectonce/effectonce/store"
)

var cancelTests = []test{
	{"DoneContextChangesNothing", func(e *env) {
		ctx, cancel := context.WithCancel(e.ctx())
		cancel()
		q := e.request()
		if _, err := e.Claim(ctx, q); !errors.Is(err, context.Canceled) {
			e.Fatalf("Claim: got error %v, want %v", err, context.Canceled)
		}
		_, err := e.Get(e.ctx(), q.Ref)
		e.equal("ErrNotFound after it", errors.Is(err, store.ErrNotFound), true)

		r := e.won(q)
		_, err = e.Report(ctx, r.Claim(), done("x"))
		e.refused(context.Canceled, r, store.Record{}, err)
		_, err = e.Amend(ctx, r, store.Change{Verb: store.Release, Force: true, Who: "operator"})
		e.refused(context.Canceled, r, store.Record{}, err)
		_, err = e.Renew(ctx, 2*long, []store.Claim{r.Claim()})
		e.refused(context.Canceled, r, store.Record{}, err)
		_, err = e.Get(ctx, q.Ref)
		e.refused(context.Canceled, r, store.Record{}, err)
	}},

	{"CancelledClaimIsRepeatedOrNobodys", func(e *env) {
		// Contexts end at every moment of a claim. Whatever came of the first
		// call, the same call again owns the record, or the record is free. Once a
		// claim was answered, nothing that the store does for the caller that left
		// may end it.
		var owned []store.Record
		for i := range 60 {
			q := e.request()
			ctx, cancel := context.WithTimeout(e.ctx(), time.Duration(i)*50*time.Microsecond)
			_, err := e.Claim(ctx, q)
			cancel()
			if err == nil {
				e.equal("owner", e.get(q.Ref).Token, q.Token)
				continue
			}
			r := e.claim(q)
			for patience := time.Now().Add(10 * time.Second); r.State == store.Free && r.Token == q.Token; r = e.claim(q) {
				if q = again(q); time.Now().After(patience) {
					e.Fatal("a record that its cancelled owner has released is not claimable")
				}
			}
			if r.State != store.InFlight || r.Token != q.Token {
				e.Fatalf("a cancelled claim left a record that is %s, of another token", r.State)
			}
			owned = append(owned, r)
		}
		for _, r := range owned {
			e.same("a claim that was answered", e.get(r.Ref), r)
		}
	}},

	{"CancelledReportCanBeRepeated", func(e *env) {
		for i := range 60 {
			r := e.won(e.request())
			ctx, cancel := context.WithTimeout(e.ctx(), time.Duration(i)*50*time.Microsecond)
			e.Report(ctx, r.Claim(), done("x")) //nolint:errcheck // whatever came of it
			cancel()
			e.equal("state", e.report(r, done("x")).State, store.Completed)
		}
	}},
}
