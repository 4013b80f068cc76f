package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/effectonce/effectonce/store"
)

// call is one call of a concurrent run, for one record; answer is what came back.
type call struct {
	verb    store.Verb // Claimed, TookOver, or what is reported
	request store.Request
	seen    store.Record
	held    store.Claim
}

type answer struct {
	record store.Record
	err    error
}

// linearizable lets a few goroutines claim, report and take over one record at once,
// and then asks whether there is an order of all calls, each between its start and
// its end, in which the state machine gives the same answers.
func linearizable(e *env) {
	rounds, clients, calls := 30, 5, 8
	for range rounds {
		var mu sync.Mutex
		var ops []porcupine.Operation
		q := e.request()
		begin := time.Now()
		together(clients, func(client int) {
			var last store.Record
			for range calls {
				in := next(q, last)
				from := time.Since(begin)
				out := e.do(in)
				to := time.Since(begin)
				if last = out.record; last.Fence == 0 {
					e.Errorf("%s: %v", in.verb, out.err)
				}
				mu.Lock()
				ops = append(ops, porcupine.Operation{
					ClientId: client, Input: in, Output: out, Call: from.Nanoseconds(), Return: to.Nanoseconds(),
				})
				mu.Unlock()
			}
		})
		if !porcupine.CheckOperations(sequential, ops) {
			e.Fatalf("no order of these calls explains the answers:%s", describe(ops))
		}
	}
}

// next picks what a client does that has last seen a record. No lease ends while the
// run lasts, so that time plays no part.
func next(q store.Request, last store.Record) call {
	c := call{verb: store.Claimed, request: again(q), seen: last, held: last.Claim()}
	if last.Fence == 0 {
		return c
	}
	verbs := []store.Verb{store.Claimed, store.Release, store.MarkUnknown, store.MarkUnknown, store.TookOver, store.TookOver, store.Complete}
	c.verb = verbs[rand.IntN(len(verbs))]
	return c
}

func (c call) change() store.Change {
	if c.verb == store.Complete {
		return done(c.held.Token.String())
	}
	return store.Change{Verb: c.verb}
}

func (e *env) do(c call) (a answer) {
	switch c.verb {
	case store.Claimed:
		a.record, a.err = e.Claim(e.ctx(), c.request)
	case store.TookOver:
		a.record, a.err = e.TakeOver(e.ctx(), c.request, c.seen)
	default:
		a.record, a.err = e.Report(e.ctx(), c.held, c.change())
	}
	return a
}

// sequential is the state machine, one call after the other.
var sequential = porcupine.Model{
	Init: func() any { return store.Record{} },
	Step: func(state, input, output any) (bool, any) {
		was, in, out := state.(store.Record), input.(call), output.(answer)
		now := out.record.Now
		var want store.Record
		var err error
		switch {
		case in.verb == store.Claimed && was.Fence == 0:
			want = in.request.First(now)
		case was.Fence == 0:
			return false, state
		case in.verb == store.Claimed:
			want, _ = was.AfterClaim(in.request, now)
		case in.verb == store.TookOver:
			want, _, err = was.AfterTakeOver(in.request, in.seen, now)
		default:
			want, _, err = was.AfterReport(in.held, in.change(), now)
		}
		same := out.err == nil && err == nil || errors.Is(out.err, err) && err != nil
		return same && diff(out.record, want) == "", want
	},
	Equal: func(a, b any) bool { return diff(a.(store.Record), b.(store.Record)) == "" },
}

func describe(ops []porcupine.Operation) (text string) {
	for _, op := range ops {
		in, out := op.Input.(call), op.Output.(answer)
		text += fmt.Sprintf("\n\tclient %d, %d to %d: %s → %s, fence %d, token %s, %v",
			op.ClientId, op.Call, op.Return, in.verb, out.record.State, out.record.Fence, out.record.Token, out.err)
	}
	return text
}
