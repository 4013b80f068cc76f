package redis

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/effectonce/effectonce/store"
)

// version names one writing of a record: that of one call, however often it was sent.
type version [16]byte

// row is a record and the version in which it was read.
type row struct {
	store.Record
	version version
}

// encode returns the fields of the hash in which a record is kept. What is zero is
// left out; the key is in the name of the hash, and the version is the scripts' to write.
func encode(r store.Record) map[string]string {
	f := map[string]string{
		"request": texts(r.Namespace, r.ScopeKind, r.ScopeID, r.Tenant, r.Operation, r.Intent, r.WorkflowID, r.RunID,
			strconv.Itoa(r.Attempt)),
		"state": string(r.State), "fence": ofInt(r.Fence), "generation": strconv.Itoa(r.Generation),
	}
	for name, digest := range map[string][]byte{
		"root": r.Root[:], "scheduled": r.Scheduled[:], "fingerprint": r.Fingerprint[:], "token": r.Token[:],
	} {
		if !zero(digest) {
			f[name] = string(digest)
		}
	}
	for name, at := range map[string]time.Time{
		"lease": r.Lease, "deadline": r.Deadline, "prior": r.Prior, "created": r.Created, "finished": r.Finished, "expires": r.Expires,
	} {
		if !at.IsZero() {
			f[name] = ofTime(at)
		}
	}
	if r.Retention != 0 {
		f["retention"] = ofInt(int64(r.Retention)) // nanoseconds
	}
	if len(r.Fields) != 0 {
		f["fields"] = string(r.Fields)
	}
	if o := r.Outcome; o != nil {
		f["format"] = o.Format
		if len(o.Data) != 0 {
			f["data"] = string(o.Data)
		}
		if len(o.Context) != 0 {
			f["context"] = string(o.Context)
		}
	}
	return f
}

// decode reads the hash of a record. Its key is not in it: see [Store.step].
func decode(list []string, now time.Time) (r row, err error) {
	if len(list)%2 != 0 {
		return r, errReply
	}
	f := fields{of: make(map[string]string, len(list)/2)}
	for i := 0; i < len(list); i += 2 {
		f.of[list[i]] = list[i+1]
	}
	f.bytes("version", r.version[:])
	f.bytes("root", r.Root[:])
	f.bytes("scheduled", r.Scheduled[:])
	f.bytes("fingerprint", r.Fingerprint[:])
	f.bytes("token", r.Token[:])
	attempt := ""
	f.check("request", split(f.of["request"], &r.Namespace, &r.ScopeKind, &r.ScopeID, &r.Tenant, &r.Operation, &r.Intent,
		&r.WorkflowID, &r.RunID, &attempt))
	r.Attempt = int(f.parse("request", attempt))
	r.State = store.State(f.of["state"])
	r.Fence, r.Generation = f.int("fence"), int(f.int("generation"))
	r.Lease, r.Deadline, r.Prior = f.time("lease"), f.time("deadline"), f.time("prior")
	r.Created, r.Finished, r.Expires = f.time("created"), f.time("finished"), f.time("expires")
	r.Retention = time.Duration(f.int("retention"))
	r.Fields = ofText(f.of["fields"])
	if format, ok := f.of["format"]; ok {
		r.Outcome = &store.Outcome{Format: format, Data: ofText(f.of["data"]), Context: ofText(f.of["context"])}
	}
	r.Now = now
	switch {
	case f.wrong != nil:
		return row{}, fmt.Errorf("%w: %w", store.ErrCorrupt, f.wrong)
	case r.version == version{} || !sensible(r.Record):
		return row{}, fmt.Errorf("%w: its fields contradict each other", store.ErrCorrupt)
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

// fields are those of a record, with the first that cannot be read.
type fields struct {
	of    map[string]string
	wrong error
}

func (f *fields) check(name string, err error) {
	if err != nil && f.wrong == nil {
		f.wrong = fmt.Errorf("field %s: %w", name, err)
	}
}

func (f *fields) bytes(name string, into []byte) {
	text, ok := f.of[name]
	if ok && (len(text) != len(into) || zero([]byte(text))) {
		f.check(name, errors.New("wrong length, or zero"))
		return
	}
	copy(into, text)
}

func (f *fields) int(name string) int64 {
	text, ok := f.of[name]
	if !ok {
		return 0
	}
	return f.parse(name, text)
}

func (f *fields) parse(name, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	f.check(name, err)
	return n
}

func (f *fields) time(name string) time.Time {
	if _, ok := f.of[name]; !ok {
		return time.Time{}
	}
	return time.UnixMicro(f.int(name)).UTC()
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func ofInt(n int64) string { return strconv.FormatInt(n, 10) }

func ofTime(t time.Time) string { return ofInt(t.UnixMicro()) }

func ofText(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}
