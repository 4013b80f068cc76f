package main

import (
	"encoding/json"
	"time"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// The shapes of the JSON that is printed. Their names are a promise: programs read
// them. Times are RFC 3339 in UTC and left out where there is none.

type recordShape struct {
	Key        key.Key     `json:"key"`
	State      store.State `json:"state"`
	Uncertain  bool        `json:"uncertain"` // nobody knows the outcome, written down or not
	Namespace  string      `json:"namespace"`
	ScopeKind  string      `json:"scope_kind"`
	ScopeID    string      `json:"scope_id"`
	Tenant     string      `json:"tenant"`
	Operation  string      `json:"operation"`
	Intent     string      `json:"intent"`
	WorkflowID string      `json:"workflow_id"`
	RunID      string      `json:"run_id"`
	Attempt    int         `json:"attempt"`
	Fence      int64       `json:"fence"`
	Generation int         `json:"generation"`
	Downstream string      `json:"downstream_key"`
	UUID       string      `json:"downstream_uuid"`

	Created     time.Time `json:"created"`
	Lease       time.Time `json:"lease_ends,omitzero"`
	RequestsEnd time.Time `json:"requests_end,omitzero"` // the latest deadline of the attempts
	Finished    time.Time `json:"finished,omitzero"`
	Expires     time.Time `json:"kept_until,omitzero"`
	Now         time.Time `json:"store_time"` // the store's clock, to compare the others with

	Outcome *outcomeShape `json:"outcome,omitempty"`
}

type outcomeShape struct {
	Format string          `json:"format"`
	Bytes  int             `json:"bytes"`
	Data   []byte          `json:"data,omitempty"`   // base64
	Result json.RawMessage `json:"result,omitempty"` // instead of data, if it is plain JSON
}

func recordJSON(r store.Record) recordShape {
	downstream := r.Key.Downstream(r.Generation)
	shape := recordShape{
		Key: r.Key, State: r.State, Uncertain: r.Uncertain(),
		Namespace: r.Namespace, ScopeKind: r.ScopeKind, ScopeID: r.ScopeID, Tenant: r.Tenant,
		Operation: r.Operation, Intent: r.Intent,
		WorkflowID: r.WorkflowID, RunID: r.RunID, Attempt: r.Attempt,
		Fence: r.Fence, Generation: r.Generation, Downstream: downstream, UUID: key.UUID(downstream),
		Created: r.Created, Lease: r.Lease, RequestsEnd: requestsEnd(r), Finished: r.Finished, Expires: keptUntil(r), Now: r.Now,
	}
	if r.Outcome != nil {
		shape.Outcome = &outcomeShape{Format: r.Outcome.Format, Bytes: len(r.Outcome.Data)}
	}
	return shape
}

func (s *recordShape) showOutcome(o *store.Outcome) {
	if o == nil {
		return
	}
	if o.Format == outcome.Plain {
		s.Outcome.Result = o.Data
	} else {
		s.Outcome.Data = o.Data
	}
}

type entryShape struct {
	At         time.Time   `json:"at"`
	Verb       store.Verb  `json:"what"`
	From       store.State `json:"from,omitempty"`
	To         store.State `json:"to"`
	Fence      int64       `json:"fence"`
	Generation int         `json:"generation"`
	Attempt    int         `json:"attempt"`
	WorkflowID string      `json:"workflow_id"`
	RunID      string      `json:"run_id"`
	Who        string      `json:"who"`
	Why        string      `json:"why"`
}

func historyJSON(history []store.Entry) []entryShape {
	shapes := make([]entryShape, len(history))
	for i, e := range history {
		shapes[i] = entryShape{
			At: e.At, Verb: e.Verb, From: e.From, To: e.To, Fence: e.Fence, Generation: e.Generation,
			Attempt: e.Attempt, WorkflowID: e.WorkflowID, RunID: e.RunID, Who: e.Who, Why: e.Why,
		}
	}
	return shapes
}
