package memory

import (
	"encoding/binary"
	"time"

	"github.com/effectonce/effectonce/store"
)

// row is a record as it is kept, and its history: one text, which never changes and has
// no pointers in it, so that a million records are no work for the garbage collector.
//
// It begins with the length of the record; the lines of the history follow it.
type row string

// next returns the row after a change of the record to the one given, with a line about
// it in its history; verb is empty for a change that its history does not tell.
func (w row) next(from, to *store.Record, verb store.Verb, who, why string) row {
	var room [1024]byte
	p := packer(room[:4]).record(to)
	binary.LittleEndian.PutUint32(p, uint32(len(p)))
	p = append(p, w.lines()...)
	if verb != "" {
		p = p.line(from, to, verb, who, why)
	}
	return row(p)
}

// record returns the record as it is at some moment. Its slices are the caller's.
func (w row) record(now time.Time) (r store.Record) {
	if w != "" {
		u := unpacker(w[4:w.size()])
		u.record(&r)
	}
	r.Now = now
	return r
}

func (w row) size() int { return int(binary.LittleEndian.Uint32([]byte(w[:4]))) }

func (w row) lines() unpacker {
	if w == "" {
		return ""
	}
	return unpacker(w[w.size():])
}

// history returns the lines as their readers want them.
func (w row) history() (entries []store.Entry) {
	e := store.Entry{Ref: w.record(time.Time{}).Ref}
	for u := w.lines(); u != ""; {
		u.line(&e)
		entries = append(entries, e)
	}
	return entries
}

// packer appends values; an unpacker takes them off in the same order.
type (
	packer   []byte
	unpacker string
)

func (p packer) record(r *store.Record) packer {
	p = append(append(p, r.Root[:]...), r.Key[:]...)
	p = append(append(p, r.Scheduled[:]...), r.Fingerprint[:]...)
	p = append(p, r.Token[:]...)
	p = p.text(string(r.State)).text(r.Namespace).text(r.ScopeKind).text(r.ScopeID).text(r.Tenant)
	p = p.text(r.Operation).text(r.Intent).text(r.WorkflowID).text(r.RunID)
	p = p.number(int64(r.Attempt)).number(r.Fence).number(int64(r.Generation)).number(int64(r.Retention))
	p = p.time(r.Lease).time(r.Deadline).time(r.Prior).time(r.Created).time(r.Finished).time(r.Expires)
	p = p.bytes(r.Fields)
	if o := r.Outcome; o != nil { // its format is never empty
		p = p.text(o.Format).bytes(o.Data).bytes(o.Context)
	}
	return p
}

func (u *unpacker) record(r *store.Record) {
	for _, id := range [...][]byte{r.Root[:], r.Key[:], r.Scheduled[:], r.Fingerprint[:], r.Token[:]} {
		*u = (*u)[copy(id, *u):]
	}
	r.State = store.State(u.text())
	for _, text := range [...]*string{
		&r.Namespace, &r.ScopeKind, &r.ScopeID, &r.Tenant, &r.Operation, &r.Intent, &r.WorkflowID, &r.RunID,
	} {
		*text = u.text()
	}
	r.Attempt, r.Fence, r.Generation, r.Retention = int(u.number()), u.number(), int(u.number()), time.Duration(u.number())
	for _, t := range [...]*time.Time{&r.Lease, &r.Deadline, &r.Prior, &r.Created, &r.Finished, &r.Expires} {
		*t = u.time()
	}
	r.Fields = u.bytes()
	if *u != "" {
		r.Outcome = &store.Outcome{Format: u.text(), Data: u.bytes(), Context: u.bytes()}
	}
}

// line is the change from one record to the next. What tells a claim from another is left
// out if it is as in the line before.
func (p packer) line(from, to *store.Record, verb store.Verb, who, why string) packer {
	p = p.time(to.Now).text(string(verb)).text(string(from.State)).text(string(to.State)).text(who).text(why)
	if sameClaim(from, to) {
		return append(p, 0)
	}
	p = append(append(p, 1), to.Token[:]...)
	return p.number(to.Fence).number(int64(to.Generation)).number(int64(to.Attempt)).text(to.WorkflowID).text(to.RunID)
}

func sameClaim(a, b *store.Record) bool {
	return a.Token == b.Token && a.Fence == b.Fence && a.Generation == b.Generation && a.Attempt == b.Attempt &&
		a.WorkflowID == b.WorkflowID && a.RunID == b.RunID
}

// line takes a line off; e is the line before.
func (u *unpacker) line(e *store.Entry) {
	e.At = u.time()
	e.Verb, e.From, e.To = store.Verb(u.text()), store.State(u.text()), store.State(u.text())
	e.Who, e.Why = u.text(), u.text()
	another := (*u)[0] == 1
	if *u = (*u)[1:]; !another {
		return
	}
	*u = (*u)[copy(e.Token[:], *u):]
	e.Fence, e.Generation, e.Attempt = u.number(), int(u.number()), int(u.number())
	e.WorkflowID, e.RunID = u.text(), u.text()
}

func (p packer) number(n int64) packer { return binary.AppendVarint(p, n) }

func (u *unpacker) number() int64 {
	var room [binary.MaxVarintLen64]byte
	n, size := binary.Varint(room[:copy(room[:], *u)])
	*u = (*u)[size:]
	return n
}

// time is in microseconds, as are all times of a store; the zero time is before them all.
func (p packer) time(t time.Time) packer {
	return binary.LittleEndian.AppendUint64(p, uint64(t.UnixMicro()))
}

func (u *unpacker) time() time.Time {
	micro := int64(binary.LittleEndian.Uint64([]byte((*u)[:8])))
	*u = (*u)[8:]
	if micro == zeroTime {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

var zeroTime = time.Time{}.UnixMicro()

func (p packer) text(s string) packer { return append(binary.AppendUvarint(p, uint64(len(s))), s...) }

func (p packer) bytes(b []byte) packer { return append(binary.AppendUvarint(p, uint64(len(b))), b...) }

// text is a part of the row, not a copy.
func (u *unpacker) text() string {
	var room [binary.MaxVarintLen64]byte
	length, size := binary.Uvarint(room[:copy(room[:], *u)])
	end := size + int(length)
	s := (*u)[size:end]
	*u = (*u)[end:]
	return string(s)
}

// bytes is a copy; nil if it is empty.
func (u *unpacker) bytes() []byte {
	if s := u.text(); s != "" {
		return []byte(s)
	}
	return nil
}
