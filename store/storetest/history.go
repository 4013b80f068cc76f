package storetest

import (
	"errors"
	"reflect"

	"github.com/effectonce/effectonce/store"
)

// line is what an entry says, its record aside.
type line struct {
	verb     store.Verb
	from, to store.State
	who, why string
}

func (e *env) history(ref store.Ref) []store.Entry {
	e.Helper()
	h, err := power[store.Historian](e).History(e.ctx(), ref)
	if err != nil {
		e.Fatalf("History: %v", err)
	}
	return h
}

func lines(entries []store.Entry) (all []line) {
	for _, h := range entries {
		all = append(all, line{h.Verb, h.From, h.To, h.Who, h.Why})
	}
	return all
}

var historyTests = []test{
	{"EveryChangeIsThereWithWhoAndWhy", func(e *env) {
		power[store.Historian](e)
		q := e.request(shortLease)
		r := e.over(e.won(q))
		e.renew(short, r.Claim())
		r = e.over(e.get(q.Ref))
		q = again(q)
		q.Who, q.Lease = "worker-2", long
		r = e.takeOver(q, r)
		say := func(c store.Change, who, why string) store.Change { c.Who, c.Why = who, why; return c }
		r = e.report(r, say(store.Change{Verb: store.MarkUnknown}, "worker-2", "connection reset"))
		e.amend(r, say(store.Change{Verb: store.NotApplied, Force: true}, "ann", "asked the bank"+awkward))
		r = e.won(again(q))
		r = e.report(r, say(store.Change{Verb: store.Suspend, For: long}, "worker-2", "approval"))
		r = e.report(r, say(done("x"), "hook", "approved"))
		c := say(failed("y"), "bob", "was a mistake")
		c.Override = true
		r = e.amend(r, c)
		r = e.amend(r, say(store.Change{Verb: store.AllowRerun}, "ann", "once more"))
		e.amend(r, say(store.Change{Verb: store.Forget}, "ann", ""))

		e.equal("history", lines(e.history(q.Ref)), []line{
			{store.Claimed, "", store.InFlight, "worker-1", ""},
			{store.Resumed, store.InFlight, store.InFlight, "", ""},
			{store.TookOver, store.InFlight, store.InFlight, "worker-2", ""},
			{store.MarkUnknown, store.InFlight, store.Unknown, "worker-2", "connection reset"},
			{store.NotApplied, store.Unknown, store.Free, "ann", "asked the bank" + awkward},
			{store.Claimed, store.Free, store.InFlight, "worker-2", ""},
			{store.Suspend, store.InFlight, store.Pending, "worker-2", "approval"},
			{store.Complete, store.Pending, store.Completed, "hook", "approved"},
			{store.Fail, store.Completed, store.Failed, "bob", "was a mistake"},
			{store.AllowRerun, store.Failed, store.Free, "ann", "once more"},
			{store.Forget, store.Free, store.Free, "ann", ""},
		})
	}},

	{"EveryFieldOfAnEntryIsFilled", func(e *env) {
		power[store.Historian](e)
		q := e.fill(func(field string) string { return field + awkward })
		r := e.report(e.won(q), store.Change{Verb: store.Release, Who: "me", Why: "because" + awkward})
		h := e.history(q.Ref)
		e.equal("entries", len(h), 2)
		got := h[1]
		want := store.Entry{
			Ref: q.Ref, At: r.Now, Verb: store.Release, From: store.InFlight, To: store.Free, Token: q.Token, Fence: 1,
			Generation: 1, Attempt: q.Attempt, WorkflowID: q.WorkflowID, RunID: q.RunID, Who: "me", Why: "because" + awkward,
		}
		if d := diffOf(got, want); d != "" {
			e.Fatalf("the entry differs (got, want):%s", d)
		}
		e.equal("who claimed", h[0].Who, q.Who)
		v := reflect.ValueOf(got)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				e.Errorf("Entry.%s is not filled here: storetest must check it", v.Type().Field(i).Name)
			}
		}
	}},

	{"NothingThatChangedNothingIsThere", func(e *env) {
		power[store.Historian](e)
		q := e.request()
		r := e.won(q)
		e.claim(q)        // repeated
		e.claim(again(q)) // a duplicate
		e.claim(otherInput(q))
		e.renew(long, r.Claim()) // of a live lease
		held := r.Claim()
		held.Fence++
		ctx := e.ctx()
		e.fails(e.Report(ctx, held, done("x")))
		e.fails(e.Report(ctx, r.Claim(), store.Change{Verb: "explode"}))
		e.fails(e.TakeOver(ctx, again(q), r))
		e.fails(e.Amend(ctx, r, settle(store.NotApplied, 0)))
		c := done("x")
		e.report(r, c)
		e.report(r, c) // repeated
		e.fails(e.Report(ctx, r.Claim(), failed("x")))
		e.renew(long, r.Claim())
		e.equal("history", lines(e.history(q.Ref)), []line{
			{store.Claimed, "", store.InFlight, "worker-1", ""},
			{store.Complete, store.InFlight, store.Completed, "", ""},
		})
	}},

	{"NoRecordIsNotFound", func(e *env) {
		_, err := power[store.Historian](e).History(e.ctx(), e.request().Ref)
		e.equal("ErrNotFound", errors.Is(err, store.ErrNotFound), true)
	}},
}

func (e *env) fails(_ store.Record, err error) {
	e.Helper()
	if err == nil {
		e.Fatal("accepted what must be refused")
	}
}
