package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// awkward is text that a store may neither cut nor clean.
const awkward = " ü漢字🙂\t\"'\\;--%_ \r\n Ώ "

// awkwardBytes are all bytes there are, NUL and 0xFF among them.
var awkwardBytes = func() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return append(b, 0xff, 0, 0xfe)
}()

// fill sets every field of a request to something that no other field has, so that
// a field that a store forgets or swaps shows. It fails on a type that it does not
// know: a new field needs a line here.
func (e *env) fill(text func(field string) string) store.Request {
	e.Helper()
	q := e.request()
	v := reflect.ValueOf(&q).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i).Addr().Interface().(type) {
		case *string:
			*f = text(name)
		case *int:
			*f = 1000 + i
		case *[]byte:
			*f = append([]byte(name), awkwardBytes...)
		case *store.Digest:
			*f = digest()
		case *time.Duration:
			*f = time.Duration(i)*time.Hour + time.Duration(i)*time.Microsecond
		case *store.Token, *store.Ref, *bool:
		default:
			e.Fatalf("storetest does not know how to fill Request.%s", name)
		}
	}
	return q
}

// carried insists on every field of the request being in the record as it was sent.
func (e *env) carried(q store.Request, r store.Record) {
	e.Helper()
	sent, kept := reflect.ValueOf(q), reflect.ValueOf(r)
	for i := range sent.NumField() {
		name := sent.Type().Field(i).Name
		want := sent.Field(i).Interface()
		switch name {
		case "Lease":
			e.equal("lease", r.Lease.Sub(r.Now), want)
			continue
		case "Remaining":
			e.equal("deadline", r.Deadline.Sub(r.Now), want)
			continue
		case "Who":
			continue // History has it
		case "Excluded", "Settle":
			continue // conditions of a take-over; nothing of them is kept
		}
		f := kept.FieldByName(name)
		if !f.IsValid() {
			e.Fatalf("Request.%s is not in Record: say here where it goes", name)
		}
		if got := f.Interface(); !alike(got, want) {
			e.Fatalf("%s: got %s, want %s", name, show(got), show(want))
		}
	}
}

var recordTests = []test{
	{"EveryFieldComesBack", func(e *env) {
		for name, text := range map[string]func(string) string{
			"Named":   func(field string) string { return field },
			"Awkward": func(field string) string { return field + awkward },
			"Long":    func(field string) string { return field + strings.Repeat("ü", 5000) },
			"Empty":   func(string) string { return "" },
		} {
			e.within(name, func(e *env) {
				q := e.fill(text)
				r := e.won(q)
				e.carried(q, r)
				e.carried(q, withNow(e.get(q.Ref), r.Now))
				e.equal("expires", r.Expires.Sub(r.Now), q.Retention)
			})
		}
	}},

	{"EveryFieldIsFilledAtSomeTime", func(e *env) {
		// A field that nothing here fills would pass every other comparison.
		q := e.fill(func(field string) string { return field })
		q.Lease = short
		r := e.over(e.won(q))
		next := e.fill(func(field string) string { return "other " + field })
		next.Ref, next.Fingerprint, next.Fields, next.Lease = q.Ref, q.Fingerprint, q.Fields, long
		r = e.takeOver(next, r)
		e.carried(next, r)
		inFlight := reflect.ValueOf(r)
		r = e.report(r, done("x"))
		e.same("what Get returns", e.get(q.Ref), r)
		for i := range inFlight.NumField() {
			if inFlight.Field(i).IsZero() && reflect.ValueOf(r).Field(i).IsZero() {
				e.Errorf("Record.%s is zero before and after completion: storetest must fill it", inFlight.Type().Field(i).Name)
			}
		}
	}},

	{"ZeroFieldsComeBackAsZero", func(e *env) {
		q := store.Request{
			Ref: store.Ref{Key: e.request().Key}, Token: store.NewToken(), Fingerprint: digest(), Lease: long, Remaining: long,
		}
		r := e.won(q)
		want := store.Record{
			Ref: q.Ref, Fingerprint: q.Fingerprint, State: store.InFlight, Token: q.Token, Fence: 1, Generation: 1,
			Lease: r.Now.Add(long), Deadline: r.Now.Add(long), Created: r.Now,
		}
		e.same("the record", r, want)
		got := e.get(q.Ref)
		e.same("what Get returns", got, want)
		for name, at := range map[string]time.Time{"Prior": got.Prior, "Finished": got.Finished, "Expires": got.Expires} {
			e.equal(name+" is the zero time", at.IsZero(), true)
		}
	}},

	{"OutcomeBytesAreVerbatim", func(e *env) {
		for name, o := range map[string]*store.Outcome{
			"AllBytes": {Format: "f" + awkward, Data: awkwardBytes, Context: append([]byte("c"), awkwardBytes...)},
			"Empty":    {Format: "f", Data: []byte{}, Context: []byte{}},
			"Nil":      {Format: "f"},
			"Zeros":    {Format: "f", Data: make([]byte, 3), Context: make([]byte, 1)},
			"NotUTF8":  {Format: "f", Data: []byte("\xff\xfe\xc3\x28"), Context: []byte("\x80")},
			"Large":    e.large(),
		} {
			for _, verb := range []store.Verb{store.Complete, store.Fail} {
				e.within(name+"/"+string(verb), func(e *env) {
					q := e.request()
					r := e.report(e.won(q), store.Change{Verb: verb, Outcome: o})
					for _, got := range []*store.Outcome{r.Outcome, e.get(q.Ref).Outcome, e.claim(again(q)).Outcome} {
						if !got.Equal(o) {
							e.Fatalf("outcome: got %s, want %s", show(got), show(o))
						}
					}
				})
			}
		}
	}},

	{"OutcomeThatIsTooLargeIsRefusedAndASmallerOneAccepted", func(e *env) {
		if e.largest == 0 {
			return
		}
		for _, verb := range []store.Verb{store.Complete, store.Fail} {
			r := e.won(e.request())
			got, err := e.Report(e.ctx(), r.Claim(), store.Change{Verb: verb, Outcome: outcome(strings.Repeat("x", twoMiB))})
			e.refused(store.ErrInvalid, r, got, err)
			e.equal("done", e.report(r, done("a reference to it")).Done(), true)
		}
	}},

	{"TimesAreWholeMicrosecondsOnOneClock", func(e *env) {
		q := e.request()
		q.Retention = 3*time.Hour + 7*time.Microsecond
		before := e.won(q)
		r := e.report(before, done("x"))
		got := e.get(q.Ref)
		e.equal("the clock does not go back", !r.Now.Before(before.Now) && !got.Now.Before(r.Now), true)
		v := reflect.ValueOf(got)
		for i := range v.NumField() {
			if at, ok := v.Field(i).Interface().(time.Time); ok && !at.Equal(at.Truncate(time.Microsecond)) {
				e.Errorf("Record.%s has parts of a microsecond: %s", v.Type().Field(i).Name, at)
			}
		}
	}},

	{"NoSliceIsSharedWithTheCaller", func(e *env) {
		q := e.request()
		e.won(q)
		c := done("result")
		r := e.report(e.get(q.Ref), c)
		c.Outcome.Data[0], c.Outcome.Context[0], q.Fields[0] = 'X', 'X', 'X' // what was handed in
		c.Outcome.Format = "X"
		for _, r := range []store.Record{r, e.get(q.Ref)} { // what was handed out
			e.equal("outcome", data(r)+string(r.Fields), "result\x01\x02\x03")
			r.Outcome.Data[1], r.Outcome.Context[1], r.Fields[1] = 'X', 'X', 'X'
			r.Outcome.Format = "X"
		}
		r = e.get(q.Ref)
		e.equal("outcome", fmt.Sprintf("%s %s %s", r.Outcome.Format, r.Outcome.Data, r.Outcome.Context), "text result context")
		e.equal("fields", r.Fields, []byte{1, 2, 3})
	}},

	{"EqualKeysUnderEqualRootsOnly", func(e *env) {
		one, other := e.request(), e.request()
		other.Root = one.Root // neighbours
		a, b := e.won(one), e.won(other)
		e.report(a, done("a"))
		e.same("the neighbour", e.get(other.Ref), b)
		_, err := e.Get(e.ctx(), store.Ref{Root: one.Root, Key: key.Key{1}})
		e.equal("ErrNotFound beside the two", errors.Is(err, store.ErrNotFound), true)
	}},
}

const twoMiB = 2 << 20

// large returns an outcome as large as the store must keep.
func (e *env) large() *store.Outcome {
	o := &store.Outcome{Format: "f", Context: []byte("c")}
	size := twoMiB
	if e.largest != 0 {
		size = e.largest - len(o.Format) - len(o.Context)
	}
	o.Data = []byte(strings.Repeat("0123456789abcdef", size/16+1))[:size]
	return o
}

func withNow(r store.Record, now time.Time) store.Record {
	r.Now = now
	return r
}
