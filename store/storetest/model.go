package storetest

import (
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/effectonce/effectonce/store"
)

// model keeps what a store must hold, as the pure state machine has it. It takes
// the moment of each call from the store's answer.
type model struct {
	e       *env
	refs    []store.Request // one action each
	records map[store.Ref]store.Record
	log     map[store.Ref][]line
	claims  []store.Claim  // all that were ever owned
	seen    []store.Record // all that were ever read
}

func newModel(e *env) *model {
	m := &model{e: e, records: map[store.Ref]store.Record{}, log: map[store.Ref][]line{}}
	activity := digest()
	for i := range 3 {
		q := e.request()
		if i > 0 && !e.sharedScheduled {
			q.Scheduled = activity // two keys of one scheduled activity
		}
		m.refs = append(m.refs, q)
	}
	return m
}

func (m *model) request(t *rapid.T) store.Request {
	q := rapid.SampledFrom(m.refs).Draw(t, "request")
	q.Token = store.Token{rapid.ByteRange(1, 6).Draw(t, "token")} // few, so that they come back
	q.Attempt = rapid.IntRange(1, 3).Draw(t, "attempt")
	q.Lease = rapid.SampledFrom([]time.Duration{time.Microsecond, long}).Draw(t, "lease")
	q.Remaining = rapid.SampledFrom([]time.Duration{time.Microsecond, long}).Draw(t, "remaining")
	q.Retention = rapid.SampledFrom([]time.Duration{0, long}).Draw(t, "retention")
	q.Excluded = rapid.Bool().Draw(t, "excluded")
	q.Settle = rapid.SampledFrom([]time.Duration{0, long}).Draw(t, "settle")
	if rapid.IntRange(0, 4).Draw(t, "other input") == 0 {
		q.Fingerprint[0] ^= 1
	}
	if rapid.IntRange(0, 4).Draw(t, "unscheduled") == 0 {
		q.Scheduled = store.Digest{}
	}
	return q
}

func (m *model) change(t *rapid.T) store.Change {
	c := store.Change{
		Verb: rapid.SampledFrom([]store.Verb{
			store.Complete, store.Fail, store.Release, store.NotApplied, store.MarkUnknown, store.Suspend, store.AllowRerun, store.Forget,
		}).Draw(t, "verb"),
		Settle: rapid.SampledFrom([]time.Duration{0, long}).Draw(t, "settle"),
		Who:    "somebody", Why: rapid.SampledFrom([]string{"", "because"}).Draw(t, "why"),
	}
	switch c.Verb {
	case store.Complete, store.Fail:
		c.Outcome = outcome(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "outcome"))
	case store.Suspend:
		c.For = rapid.SampledFrom([]time.Duration{time.Microsecond, long}).Draw(t, "for")
	}
	return c
}

// otherOf is what a store looks up before the state machine.
func (m *model) otherOf(q store.Request) (store.Record, bool) {
	for _, r := range m.records {
		if q.Scheduled != (store.Digest{}) && r.Scheduled == q.Scheduled && r.Ref != q.Ref {
			return r, true
		}
	}
	return store.Record{}, false
}

func (m *model) claim(t *rapid.T) {
	q := m.request(t)
	got, err := m.e.Claim(t.Context(), q)
	if other, ok := m.otherOf(q); ok {
		m.agree(t, got, err, other, nil)
		return
	}
	prev, ok := m.records[q.Ref]
	want, changed := q.First(got.Now), true
	if ok {
		want, changed = prev.AfterClaim(q, got.Now)
	}
	m.agree(t, got, err, want, nil)
	m.keep(prev, want, changed, store.Claimed, q.Who, "")
}

func (m *model) takeOver(t *rapid.T) {
	if len(m.seen) == 0 {
		t.Skip("nothing seen yet")
	}
	q, seen := m.request(t), rapid.SampledFrom(m.recent()).Draw(t, "seen")
	if rapid.IntRange(0, 9).Draw(t, "another key") > 0 {
		q.Ref, q.Fingerprint, q.Fields = seen.Ref, seen.Fingerprint, seen.Fields
	}
	if q.Validate() != nil {
		t.Skip("forgotten")
	}
	got, err := m.e.TakeOver(t.Context(), q, seen)
	prev, ok := m.records[q.Ref]
	if !ok {
		m.agree(t, got, err, store.Record{}, store.ErrNotFound)
		return
	}
	if other, ok := m.otherOf(q); ok {
		m.agree(t, got, err, other, store.ErrConflict)
		return
	}
	want, changed, wantErr := prev.AfterTakeOver(q, seen, got.Now)
	m.agree(t, got, err, want, wantErr)
	m.keep(prev, want, changed, store.TookOver, q.Who, "")
}

func (m *model) report(t *rapid.T) {
	if len(m.claims) == 0 {
		t.Skip("nothing claimed yet")
	}
	held, c := m.anyClaim(t), m.change(t)
	got, err := m.e.Report(t.Context(), held, c)
	if c.ValidateReport(held) != nil {
		m.agree(t, got, err, store.Record{}, store.ErrInvalid)
		return
	}
	prev := m.records[held.Ref]
	want, changed, wantErr := prev.AfterReport(held, c, got.Now)
	m.agree(t, got, err, want, wantErr)
	m.keep(prev, want, changed, c.Verb, c.Who, c.Why)
}

func (m *model) amend(t *rapid.T) {
	if len(m.seen) == 0 {
		t.Skip("nothing seen yet")
	}
	seen, c := rapid.SampledFrom(m.recent()).Draw(t, "seen"), m.change(t)
	c.Force, c.Override = rapid.Bool().Draw(t, "force"), rapid.Bool().Draw(t, "override")
	got, err := m.e.Amend(t.Context(), seen, c)
	if c.ValidateAmend(seen) != nil {
		m.agree(t, got, err, store.Record{}, store.ErrInvalid)
		return
	}
	prev := m.records[seen.Ref]
	want, changed, wantErr := prev.AfterAmend(seen, c, got.Now)
	m.agree(t, got, err, want, wantErr)
	m.keep(prev, want, changed, c.Verb, c.Who, c.Why)
}

// renew asks for one claim at a time: the answer does not say when it was given, so
// the moment is worked out from the lease that is there afterwards.
func (m *model) renew(t *rapid.T) {
	if len(m.claims) == 0 {
		t.Skip("nothing claimed yet")
	}
	held := m.anyClaim(t)
	lost, err := m.e.Renew(t.Context(), long, []store.Claim{held})
	if err != nil {
		t.Fatalf("Renew: %v", err)
	}
	after, err := m.e.Get(t.Context(), held.Ref)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	prev := m.records[held.Ref]
	now := after.Lease.Add(-long)
	if now.Before(prev.Now) || now.After(after.Now) {
		now = after.Now // not renewed
	}
	want, changed, gone := prev.AfterRenew(held, long, now)
	if gone != slices.Contains(lost, held) {
		t.Fatalf("lost: got %v, want %v, of a record that is %s", lost, gone, prev.State)
	}
	m.agree(t, after, nil, want, nil)
	if changed && !prev.LogRenewal(now) {
		m.records[held.Ref] = want
		return
	}
	m.keep(prev, want, changed, store.Resumed, "", "")
}

func (m *model) anyClaim(t *rapid.T) store.Claim {
	return rapid.SampledFrom(m.claims[max(0, len(m.claims)-4):]).Draw(t, "claim")
}

func (m *model) recent() []store.Record { return m.seen[max(0, len(m.seen)-6):] }

// keep makes next what the store must hold.
func (m *model) keep(prev, next store.Record, changed bool, verb store.Verb, who, why string) {
	if !changed {
		return
	}
	m.records[next.Ref] = next
	m.log[next.Ref] = append(m.log[next.Ref], line{verb, prev.State, next.State, who, why})
	if verb == store.Claimed || verb == store.TookOver {
		m.claims = append(m.claims, next.Claim())
	}
}

// agree compares an answer with what the state machine says.
func (m *model) agree(t *rapid.T, got store.Record, err error, want store.Record, wantErr error) {
	t.Helper()
	if wantErr == nil && err != nil || !errors.Is(err, wantErr) && !sameRefusal(err, wantErr) {
		t.Fatalf("got error %v, want %v", err, wantErr)
	}
	if d := diff(got, want); d != "" {
		t.Fatalf("the answer differs (got, want):%s", d)
	}
	if got.Fence != 0 {
		m.seen = append(m.seen, got)
	}
}

func sameRefusal(err, want error) bool {
	for _, e := range []error{store.ErrConflict, store.ErrLeaseLost, store.ErrUnsettled, store.ErrInvalid} {
		if errors.Is(want, e) {
			return errors.Is(err, e)
		}
	}
	return false
}

// compare reads all records, after every step.
func (m *model) compare(t *rapid.T) {
	for ref, want := range m.records {
		got, err := m.e.Get(t.Context(), ref)
		m.agree(t, got, err, want, nil)
	}
}

func (m *model) histories(t *rapid.T) {
	h, ok := m.e.Store.(store.Historian)
	if !ok {
		return
	}
	for ref, want := range m.log {
		got, err := h.History(t.Context(), ref)
		if err != nil || !slices.Equal(lines(got), want) {
			t.Fatalf("history: got %v, %v, want %v", lines(got), err, want)
		}
	}
}
