package memory

import (
	"time"

	"github.com/effectonce/effectonce/store"
)

// row is a record as it is kept, with its history. It belongs to the lock of its shard.
// Its slices are never written to again, and nobody else has them.
type row struct {
	ref store.Ref // never changes: may be read without the lock
	rec store.Record
	log []line
	own [2]line // for the lines of an ordinary life: claimed, completed
}

// line is a [store.Entry] without what stands in the record.
type line struct {
	at         time.Time
	verb       store.Verb
	from, to   store.State
	token      store.Token
	fence      int64
	generation int
	attempt    int
	workflowID string
	runID      string
	who, why   string
}

// keep makes next, which comes from the record that is kept, the record, and adds a line
// to its history.
func (w *row) keep(next store.Record, verb store.Verb, who, why string) {
	from := w.rec.State
	w.rec = next
	if w.log == nil {
		w.log = w.own[:0]
	}
	w.log = append(w.log, line{
		at: next.Now, verb: verb, from: from, to: next.State, token: next.Token, fence: next.Fence, generation: next.Generation,
		attempt: next.Attempt, workflowID: next.WorkflowID, runID: next.RunID, who: who, why: why,
	})
}

// history returns the lines as their readers want them.
func (w *row) history() []store.Entry {
	entries := make([]store.Entry, len(w.log))
	for i, l := range w.log {
		entries[i] = store.Entry{
			Ref: w.rec.Ref, At: l.at, Verb: l.verb, From: l.from, To: l.to, Token: l.token, Fence: l.fence,
			Generation: l.generation, Attempt: l.attempt, WorkflowID: l.workflowID, RunID: l.runID, Who: l.who, Why: l.why,
		}
	}
	return entries
}

// handOut returns a copy of r that shares no slice with what is kept. Nil and empty
// outcome data are the same; it comes back as nil.
func handOut(r store.Record) store.Record {
	if o := r.Outcome; o == nil {
		r.Fields = clones(r.Fields)[0]
	} else {
		c := clones(r.Fields, o.Data, o.Context)
		r.Fields, r.Outcome = c[0], &store.Outcome{Format: o.Format, Data: c[1], Context: c[2]}
	}
	return r
}

// takeIn returns a copy of an outcome that its caller cannot change any more.
func takeIn(o *store.Outcome) *store.Outcome {
	if o == nil {
		return nil
	}
	c := clones(o.Data, o.Context)
	return &store.Outcome{Format: o.Format, Data: c[0], Context: c[1]}
}

// clones returns copies of some slices, all in one piece of memory; nil for an empty one.
func clones(of ...[]byte) (out [3][]byte) {
	size := 0
	for _, b := range of {
		size += len(b)
	}
	if size == 0 {
		return out
	}
	all := make([]byte, 0, size)
	for i, b := range of {
		if start := len(all); len(b) > 0 {
			all = append(all, b...)
			out[i] = all[start:len(all):len(all)]
		}
	}
	return out
}
