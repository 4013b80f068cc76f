package dynamodb

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// keyName is the attribute that is the partition key.
const keyName = "key"

// version names one writing of a record.
type version [8]byte

func newVersion() (v version) {
	rand.Read(v[:]) // never fails: see crypto/rand
	return v
}

// row is a record as it is kept, and the version in which it was read or written.
type row struct {
	store.Record
	version version
	history []string
	item    item
}

func (r row) there() bool { return r.version != version{} }

// before is what the state machine calls the record before a change.
func (r row) before() *store.Record {
	if !r.there() {
		return nil
	}
	return &r.Record
}

// encode returns the item of r, as written at r.Now. Times that others decide by are kept as durations from this
// writing on: see [Store.decode]. Those of a finished record decide nothing any more,
// and those of an outside system may be far away: they are kept as they are.
func (r row) encode() item {
	i := item{}
	i.text(keyName, r.Key.String())
	i.bytes("version", r.version[:])
	i.digest("root", r.Root[:])
	i.text("namespace", r.Namespace)
	i.text("scope", r.ScopeKind)
	i.text("scope_id", r.ScopeID)
	i.text("tenant", r.Tenant)
	i.text("operation", r.Operation)
	i.text("intent", r.Intent)
	i.text("workflow", r.WorkflowID)
	i.text("run", r.RunID)
	i.int("attempt", int64(r.Attempt))
	i.digest("scheduled", r.Scheduled[:])
	i.digest("fingerprint", r.Fingerprint[:])
	i.bytes("fields", r.Fields)
	i.text("state", string(r.State))
	i.digest("token", r.Token[:])
	i.int("fence", r.Fence)
	i.int("generation", int64(r.Generation))
	if r.State == store.Pending {
		i.at("lease_at", r.Lease)
	} else {
		i.after("lease", r.Lease, r.Now)
	}
	if r.Done() {
		i.at("deadline_at", r.Deadline)
		i.at("prior_at", r.Prior)
	} else {
		i.after("deadline", r.Deadline, r.Now)
		i.after("prior", r.Prior, r.Now)
	}
	i.int("retention", int64(r.Retention)) // nanoseconds
	i.at("created", r.Created)
	i.at("finished", r.Finished)
	i.at("expires", r.Expires)
	if o := r.Outcome; o != nil {
		i.text("format", o.Format)
		i.bytes("data", o.Data)
		i.bytes("context", o.Context)
	}
	lines := make([]types.AttributeValue, len(r.history))
	for n, line := range r.history {
		lines[n] = &types.AttributeValueMemberS{Value: line}
	}
	i["history"] = &types.AttributeValueMemberL{Value: lines}
	return i
}

// decode reads an item that was read after its writing and before now. Durations in
// it begin when this store first saw the version: that was after the writing, so no
// lease or deadline is over too early, whatever the clocks of the two hosts say.
func (s *Store) decode(i item, now time.Time) (row, error) {
	r := row{item: i}
	f := reader{item: i}
	k, err := key.Parse(f.text(keyName))
	f.check(keyName, err)
	r.Key = k
	f.digest("version", r.version[:])
	f.digest("root", r.Root[:])
	r.Namespace, r.ScopeKind, r.ScopeID, r.Tenant = f.text("namespace"), f.text("scope"), f.text("scope_id"), f.text("tenant")
	r.Operation, r.Intent = f.text("operation"), f.text("intent")
	r.WorkflowID, r.RunID, r.Attempt = f.text("workflow"), f.text("run"), int(f.int("attempt"))
	f.digest("scheduled", r.Scheduled[:])
	f.digest("fingerprint", r.Fingerprint[:])
	r.Fields = f.bytes("fields")
	r.State = store.State(f.text("state"))
	f.digest("token", r.Token[:])
	r.Fence, r.Generation = f.int("fence"), int(f.int("generation"))
	r.Retention = time.Duration(f.int("retention"))
	r.Created, r.Finished, r.Expires = f.at("created"), f.at("finished"), f.at("expires")
	if _, ok := i["format"]; ok {
		r.Outcome = &store.Outcome{Format: f.text("format"), Data: f.bytes("data"), Context: f.bytes("context")}
	}
	r.history = f.texts("history")
	if r.Done() {
		r.Deadline, r.Prior = f.at("deadline_at"), f.at("prior_at")
	} else if r.there() {
		seen := s.watched.first(r.version, now)
		r.Lease, r.Deadline, r.Prior = f.after("lease", seen), f.after("deadline", seen), f.after("prior", seen)
	}
	if r.State == store.Pending {
		r.Lease = f.at("lease_at")
	}
	r.Now = now
	switch {
	case f.wrong != nil:
		return row{}, fmt.Errorf("%w: %w", store.ErrCorrupt, f.wrong)
	case !r.there() || !sensible(r.Record):
		return row{}, fmt.Errorf("%w: its attributes contradict each other", store.ErrCorrupt)
	}
	return r, nil
}

// sensible reports whether r is a record that the state machine can have made.
func sensible(r store.Record) bool {
	switch r.State {
	case store.InFlight, store.Pending:
		if r.Lease.IsZero() {
			return false
		}
	case store.Completed, store.Failed, store.Free, store.Unknown:
	default:
		return false
	}
	return r.Fence >= 1 && r.Generation >= 1 && !r.Created.IsZero() && r.Retention >= 0 &&
		r.Done() != r.Finished.IsZero() && (r.Outcome == nil || r.Done() && r.Outcome.Format != "")
}

// own returns r with bytes that nobody else holds.
func own(r store.Record) store.Record {
	r.Fields = clone(r.Fields)
	if o := r.Outcome; o != nil {
		r.Outcome = &store.Outcome{Format: o.Format, Data: clone(o.Data), Context: clone(o.Context)}
	}
	return r
}

func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}
