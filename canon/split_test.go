package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

type refund struct {
	Order  string         `json:"order"`
	Amount int64          `json:"amount"`
	Reason string         `json:"reason" effectonce:"check"`
	Trace  string         `json:"trace" effectonce:"ignore"`
	Lines  []refundLine   `json:"lines"`
	Extra  map[string]any `json:"extra"`
	Inner  refundLine     `json:"inner"`
	Meta   refundMeta     `json:"meta" effectonce:"ignore"`
}

type refundLine struct {
	SKU  string      `json:"sku"`
	Note string      `json:"note" effectonce:"ignore"`
	Next *refundLine `json:"next"`
}

type refundMeta struct {
	Host   string
	Tenant string `effectonce:"check"`
}

type refundBase struct {
	refundEmbedded `effectonce:"ignore"`
	ID             int
}

type unwritable struct {
	A string  `json:"a"`
	F float64 `json:"f" effectonce:"ignore"`
}

type refundEmbedded struct{ Note string }

func TestSplit(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"note":"n","id":1,"deep":{"note":"d","x":[1,2,3]}}`)
	dynamic := map[string]any{"note": "n", "id": 1, "deep": map[string]any{"note": "d", "x": []any{1, 2, 3}}}
	line := refundLine{SKU: "s", Note: "n"}
	tests := []struct {
		name                  string
		fields                canon.Fields
		args                  []any
		identity, fingerprint string // fingerprint empty: the same
	}{
		{"nothing", canon.Fields{}, nil, `[]`, ``},
		{"plain", canon.Fields{}, []any{"a", 1, map[string]any{"b": 1, "a": nil}}, `["a",1,{"a":null,"b":1}]`, ``},
		{"zeros at the end", canon.Fields{}, []any{"a", 0, "", false, nil, payment{}, [2]int{}, (*int)(nil), []int(nil)}, `["a"]`, ``},
		{"zeros before the end", canon.Fields{}, []any{"", 0, nil, payment{}, "x"}, `["",0,null,{},"x"]`, ``},
		{"not zero at the end", canon.Fields{}, []any{[]int{}}, `[[]]`, ``},
		{"pointer to zero at the end", canon.Fields{}, []any{&payment{}}, `[{}]`, ``},
		{"empty map at the end", canon.Fields{}, []any{map[string]any{}}, `[{}]`, ``},
		{"raw zero at the end", canon.Fields{}, []any{json.RawMessage(`0`)}, `[0]`, ``},
		{"raw null at the end", canon.Fields{}, []any{json.RawMessage(`null`)}, `[]`, ``},
		{"zero of a type with a method", canon.Fields{}, []any{1, amount{"0.00"}}, `[1]`, ``},

		{"tags", canon.Fields{}, []any{refund{Order: "o", Amount: 5, Reason: "r", Trace: "t"}},
			`[{"amount":5,"order":"o"}]`, `[{"amount":5,"order":"o","reason":"r"}]`},
		{"tags behind a pointer", canon.Fields{}, []any{&refund{Order: "o", Reason: "r"}},
			`[{"order":"o"}]`, `[{"order":"o","reason":"r"}]`},
		{"tags in a slice", canon.Fields{}, []any{[]refundLine{line, {}}}, `[[{"sku":"s"},{}]]`, ``},
		{"tags in a map", canon.Fields{}, []any{map[string]refundLine{"k": line}}, `[{"k":{"sku":"s"}}]`, ``},
		{"tags in any", canon.Fields{}, []any{map[string]any{"k": []any{line}}}, `[{"k":[{"sku":"s"}]}]`, ``},
		{"tags nested", canon.Fields{}, []any{refund{Order: "o", Lines: []refundLine{{SKU: "a", Note: "n", Next: &line}}}},
			`[{"lines":[{"next":{"sku":"s"},"sku":"a"}],"order":"o"}]`, ``},
		{"struct with nothing but ignored fields is zero", canon.Fields{}, []any{refund{Order: "o", Inner: refundLine{Note: "n"}}},
			`[{"order":"o"}]`, ``},
		{"argument with nothing but ignored fields is zero", canon.Fields{}, []any{1, refundLine{Note: "n"}}, `[1]`, ``},
		{"check inside ignore: the inner one wins", canon.Fields{}, []any{refund{Meta: refundMeta{"h", "t"}}},
			`[]`, `[{"meta":{"Tenant":"t"}}]`},
		{"tag of an embedded struct", canon.Fields{}, []any{refundBase{refundEmbedded{"n"}, 1}}, `[{"ID":1}]`, ``},

		{"ignored member of a struct", canon.Fields{Ignore: []string{"/0/to"}}, []any{payment{"x", 1}}, `[{"amount":1}]`, ``},
		{"ignored member of a map", canon.Fields{Ignore: []string{"/0/note", "/0/deep/note"}}, []any{dynamic},
			`[{"deep":{"x":[1,2,3]},"id":1}]`, ``},
		{"ignored member of raw text", canon.Fields{Ignore: []string{"/0/note", "/0/deep/note"}}, []any{raw},
			`[{"deep":{"x":[1,2,3]},"id":1}]`, ``},
		{"ignored element of a list", canon.Fields{Ignore: []string{"/0/deep/x/0"}}, []any{dynamic},
			`[{"deep":{"note":"d","x":[null,2,3]},"id":1,"note":"n"}]`, ``},
		{"ignored element of raw text", canon.Fields{Ignore: []string{"/0/deep/x/2"}}, []any{raw},
			`[{"deep":{"note":"d","x":[1,2,null]},"id":1,"note":"n"}]`, ``},
		{"checked member of raw text", canon.Fields{Check: []string{"/0/note"}}, []any{json.RawMessage(`{"note":"n","id":1}`)},
			`[{"id":1}]`, `[{"id":1,"note":"n"}]`},
		{"member of a marshaler", canon.Fields{Ignore: []string{"/0/a"}}, []any{marshaler(`{"a":1,"b":2}`)}, `[{"b":2}]`, ``},
		{"all members of a map", canon.Fields{Ignore: []string{"/0/a"}}, []any{map[string]int{"a": 1}}, `[{}]`, ``},
		{"member with a slash", canon.Fields{Ignore: []string{"/0/a~1b"}}, []any{map[string]int{"a/b": 1, "c": 2}}, `[{"c":2}]`, ``},
		{"member with an escape in raw text", canon.Fields{Ignore: []string{"/0/a\n"}}, []any{json.RawMessage(`{"a\n":1,"c":2}`)}, `[{"c":2}]`, ``},
		{"strings that end in a backslash", canon.Fields{Ignore: []string{"/0/b"}}, []any{json.RawMessage(`{"a\\":"x\\","b":"\"","c":"\\\\","d":"\\\""}`)},
			`[{"a\\":"x\\","c":"\\\\","d":"\\\""}]`, ``},
		{"brackets in strings", canon.Fields{Ignore: []string{"/0/b"}}, []any{json.RawMessage(`{"a]":"}","b":"[{","c,:":["]"]}`)}, `[{"a]":"}","c,:":["]"]}]`, ``},
		{"integer key", canon.Fields{Ignore: []string{"/0/7"}}, []any{map[int]int{7: 1, 8: 2}}, `[{"8":2}]`, ``},
		{"whole argument ignored", canon.Fields{Ignore: []string{"/0"}}, []any{"a", "b"}, `[null,"b"]`, ``},
		{"last argument ignored", canon.Fields{Ignore: []string{"/1"}}, []any{"a", "b"}, `["a"]`, ``},
		{"whole argument checked", canon.Fields{Check: []string{"/1"}}, []any{"a", "b"}, `["a"]`, `["a","b"]`},
		{"path not there", canon.Fields{Ignore: []string{"/0/y", "/5", "/1/x/y"}}, []any{dynamic["deep"], "s"}, `[{"note":"d","x":[1,2,3]},"s"]`, ``},
		{"path through null", canon.Fields{Ignore: []string{"/0/a/b"}}, []any{map[string]any{"a": nil}}, `[{"a":null}]`, ``},
		{"content of an ignored field is not looked at", canon.Fields{}, []any{unwritable{"a", math.NaN()}}, `[{"a":"a"}]`, ``},
		{"content of a field further down is not looked at", canon.Fields{}, []any{[]unwritable{{"a", math.Inf(1)}}}, `[[{"a":"a"}]]`, ``},
		{"ignored content is not looked at", canon.Fields{Ignore: []string{"/0/bad"}}, []any{map[string]any{"bad": math.NaN(), "a": 1}}, `[{"a":1}]`, ``},
		{"path over a tag", canon.Fields{Check: []string{"/0/trace"}}, []any{refund{Order: "o", Trace: "t"}},
			`[{"order":"o"}]`, `[{"order":"o","trace":"t"}]`},
		{"tag below a path", canon.Fields{Check: []string{"/0/inner"}}, []any{refund{Order: "o", Inner: line}},
			`[{"order":"o"}]`, `[{"inner":{"sku":"s"},"order":"o"}]`},

		{"identity", canon.Fields{Identity: []string{"/0/id"}}, []any{dynamic, "rest"}, `[{"id":1}]`, ``},
		{"identity in raw text", canon.Fields{Identity: []string{"/0/id"}}, []any{raw, "rest"}, `[{"id":1}]`, ``},
		{"identity and check", canon.Fields{Identity: []string{"/0/deep/note"}, Check: []string{"/0/id", "/1"}}, []any{raw, "rest"},
			`[{"deep":{"note":"d"}}]`, `[{"deep":{"note":"d"},"id":1},"rest"]`},
		{"identity of the second argument", canon.Fields{Identity: []string{"/1"}}, []any{"a", "b", "c"}, `[null,"b"]`, ``},
		{"identity of an element", canon.Fields{Identity: []string{"/0/deep/x/1"}}, []any{dynamic}, `[{"deep":{"x":[null,2]}}]`, ``},
		{"identity of an element in raw text", canon.Fields{Identity: []string{"/0/deep/x/1"}}, []any{raw}, `[{"deep":{"x":[null,2]}}]`, ``},
		{"identity of an element of a typed list", canon.Fields{Identity: []string{"/0/1/sku"}}, []any{[]refundLine{{SKU: "a"}, line, {SKU: "c"}}}, `[[null,{"sku":"s"}]]`, ``},
		{"identity with tags", canon.Fields{Identity: []string{"/0/order"}}, []any{refund{Order: "o", Amount: 1, Reason: "r", Trace: "t", Meta: refundMeta{"h", "t"}}},
			`[{"order":"o"}]`, `[{"meta":{"Tenant":"t"},"order":"o","reason":"r"}]`},
		{"identity of a pointer to zero", canon.Fields{Identity: []string{"/0/Enabled"}}, []any{struct{ Enabled *bool }{ptr(false)}}, `[{"Enabled":false}]`, ``},
		{"identity zero in a map", canon.Fields{Identity: []string{"/0/n"}}, []any{map[string]int{"n": 0}}, `[{"n":0}]`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.fields.Split(tt.args, canon.Verify())
			if err != nil {
				t.Fatal(err)
			}
			if tt.fingerprint == "" {
				tt.fingerprint = tt.identity
			}
			if string(got.Identity) != tt.identity {
				t.Errorf("identity\n got %s\nwant %s", got.Identity, tt.identity)
			}
			if string(got.Fingerprint) != tt.fingerprint {
				t.Errorf("fingerprint\n got %s\nwant %s", got.Fingerprint, tt.fingerprint)
			}
			for _, form := range [][]byte{got.Identity, got.Fingerprint} {
				again, err := canon.Text(nil, form)
				if err != nil || !bytes.Equal(again, form) {
					t.Errorf("%s is not canonical: %s, %v", form, again, err)
				}
			}
		})
	}
}

// What a removed part held must leave no trace: the same call with the part absent
// gives the same bytes.
func TestSplitRemovedIsAbsent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		fields canon.Fields
		a, b   any
	}{
		{"tag", canon.Fields{}, refund{Order: "o", Trace: "t"}, refund{Order: "o"}},
		{"tag, all of a nested struct", canon.Fields{}, refund{Order: "o", Inner: refundLine{Note: "n"}}, refund{Order: "o"}},
		{"tag, all of the argument", canon.Fields{}, refundLine{Note: "n"}, refundLine{}},
		{"path", canon.Fields{Ignore: []string{"/0/order"}}, refund{Order: "o", Amount: 1}, refund{Amount: 1}},
		{"path, all of a nested struct", canon.Fields{Ignore: []string{"/0/inner/sku"}}, refund{Order: "o", Inner: refundLine{SKU: "s"}}, refund{Order: "o"}},
		{"path, all of the argument", canon.Fields{Ignore: []string{"/0/sku"}}, refundLine{SKU: "s"}, refundLine{}},
		{"path in a map", canon.Fields{Ignore: []string{"/0/a"}}, map[string]any{"a": 1, "b": 2}, map[string]any{"b": 2}},
		{"path in raw text", canon.Fields{Ignore: []string{"/0/a"}}, json.RawMessage(`{"a":1,"b":2}`), json.RawMessage(`{"b":2}`)},
		{"path in an array of structs", canon.Fields{Ignore: []string{"/0/0/sku"}}, [2]refundLine{{SKU: "s"}}, [2]refundLine{}},
		{"other elements of a list", canon.Fields{Identity: []string{"/0/0"}}, []int{1, 2, 3}, []int{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, tail := range [][]any{nil, {"tail"}} {
				x, errX := tt.fields.Split(append([]any{tt.a}, tail...))
				y, errY := tt.fields.Split(append([]any{tt.b}, tail...))
				if errX != nil || errY != nil {
					t.Fatal(errX, errY)
				}
				if !bytes.Equal(x.Identity, y.Identity) || !bytes.Equal(x.Fingerprint, y.Fingerprint) {
					t.Errorf("%s, %s\n%s, %s", x.Identity, x.Fingerprint, y.Identity, y.Fingerprint)
				}
				if paths := canon.Diff(x.Digests, y.Digests); len(paths) > 0 {
					t.Errorf("Diff: %v", paths)
				}
			}
		})
	}
}

// Removing parts must not make different actions equal.
func TestSplitRemovalShiftsNothing(t *testing.T) {
	t.Parallel()
	fields := canon.Fields{Ignore: []string{"/0/0", "/1"}}
	calls := [][]any{
		{[]any{"x", "a", "b"}, "y", "c"},
		{[]any{"a", "b"}, "y", "c"},
		{[]any{"x", "b", "a"}, "y", "c"},
		{[]any{"x", "a"}, "y", "c"},
		{[]any{"x"}, "y", "c"},
		{[]any{}, "y", "c"},
		{[]any{"x", "a", "b"}, "c"},
		{[]any{"x", "a", "b"}, "y", "z", "c"},
		{"x", "y", "c"},
	}
	seen := map[string]int{}
	for i, args := range calls {
		s, err := fields.Split(args)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[string(s.Identity)]; ok {
			t.Errorf("%v and %v are both %s", calls[j], args, s.Identity)
		}
		seen[string(s.Identity)] = i
	}
}

func TestSplitAbsentIdentity(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		path string
		args []any
	}{
		{"no such argument", "/1", []any{"a"}},
		{"no arguments", "/0/id", nil},
		{"nil argument", "/0", []any{nil, "x"}},
		{"zero argument", "/0", []any{"", "x"}},
		{"zero argument at the end", "/1", []any{"x", 0}},
		{"zero argument before another identity", "/0", []any{"", "x"}},
		{"member of a map", "/0/id", []any{map[string]any{"x": 1}}},
		{"member of raw text", "/0/id", []any{json.RawMessage(`{"x":1}`)}},
		{"null in a map", "/0/id", []any{map[string]any{"id": nil}}},
		{"null in raw text", "/0/id", []any{json.RawMessage(`{"id":null}`)}},
		{"zero field of a struct", "/0/order", []any{refund{Amount: 5}}},
		{"zero element of a zero array", "/0/array/0", []any{paymentGrown{To: "x"}}},
		{"behind a nil pointer", "/0/next/sku", []any{refundLine{SKU: "s"}}},
		{"below a string", "/0/order/x", []any{map[string]any{"order": "o"}}},
		{"element of a short list", "/0/2", []any{[]int{1, 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fields := canon.Fields{Identity: []string{tt.path}}
			if len(tt.args) > 1 && tt.path == "/0" {
				fields.Identity = append(fields.Identity, "/1")
			}
			_, err := fields.Split(tt.args)
			var e *canon.Error
			if !errors.Is(err, canon.ErrAbsent) || !errors.Is(err, canon.ErrRefused) || !errors.As(err, &e) || e.Path != tt.path {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		arg  any
		want error
		text string
	}{
		{make(chan int), canon.ErrType, "[1]"},
		{map[string]any{"x": math.NaN()}, canon.ErrRange, "[1][*]"},
		{refund{Extra: map[string]any{"f": 1e300}}, canon.ErrUnsafeFloat, "[1].Extra[*]"},
	} {
		got, err := canon.Fields{}.Split([]any{"a", tt.arg})
		checkRefused(t, got.Identity, err, tt.want)
		var e *canon.Error
		var typ *canon.TypeError
		if !(errors.As(err, &e) && e.Path == tt.text) && !(errors.As(err, &typ) && typ.Path == tt.text) {
			t.Errorf("got %v, want %s in it", err, tt.text)
		}
	}
	big := bytesOf('x', 600)
	if _, err := (canon.Fields{}).Split([]any{string(big), string(big)}, canon.MaxSize(1000)); !errors.Is(err, canon.ErrSize) {
		t.Errorf("got %v", err)
	}
}

func TestDigests(t *testing.T) {
	t.Parallel()
	base := []any{refund{Order: "o", Amount: 1, Reason: "r"}, "s", map[string]any{"a/b": 1, "z": nil}, []int{1}, map[string]int{}}
	s, err := canon.Fields{}.Split(base)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, d := range s.Digests {
		paths = append(paths, d.Path)
	}
	want := []string{"/0/amount", "/0/order", "/0/reason", "/1", "/2/a~1b", "/2/z", "/3", "/4"}
	if !slices.Equal(paths, want) {
		t.Errorf("got  %v\nwant %v", paths, want)
	}
	tests := []struct {
		name string
		args []any
		want []string
	}{
		{"nothing", base, nil},
		{"a member", []any{refund{Order: "o", Amount: 2, Reason: "r"}, base[1], base[2], base[3], base[4]}, []string{"/0/amount"}},
		{"a checked member", []any{refund{Order: "o", Amount: 1, Reason: "x"}, base[1], base[2], base[3], base[4]}, []string{"/0/reason"}},
		{"an ignored member", []any{refund{Order: "o", Amount: 1, Reason: "r", Trace: "x"}, base[1], base[2], base[3], base[4]}, nil},
		{"members come and go", []any{refund{Order: "o", Amount: 1, Lines: []refundLine{}}, base[1], base[2], base[3], base[4]}, []string{"/0/lines", "/0/reason"}},
		{"arguments go", base[:2], []string{"/2/a~1b", "/2/z", "/3", "/4"}},
		{"everything goes", nil, want},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			other, err := canon.Fields{}.Split(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range [][]string{canon.Diff(s.Digests, other.Digests), canon.Diff(other.Digests, s.Digests)} {
				if !slices.Equal(got, tt.want) {
					t.Errorf("got  %v\nwant %v", got, tt.want)
				}
			}
		})
	}
}

func TestDigestsOfManyMembers(t *testing.T) {
	t.Parallel()
	for members, want := range map[int]int{256: 257, 257: 2, 5000: 2} {
		many := map[int]int{}
		for i := range members {
			many[i] = i
		}
		s, err := canon.Fields{}.Split([]any{many, "x"})
		if err != nil || len(s.Digests) != want {
			t.Errorf("%d members: %d digests instead of %d, %v", members, len(s.Digests), want, err)
		}
	}
}

// More than ten arguments: paths are sorted as text.
func TestDigestsSorted(t *testing.T) {
	t.Parallel()
	args := make([]any, 12)
	for i := range args {
		args[i] = i + 1
	}
	s, err := canon.Fields{}.Split(args)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(s.Digests, func(a, b canon.FieldDigest) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) }) {
		t.Errorf("not sorted: %v", s.Digests)
	}
}

// What is left of a zero value depends on what is around it, and is remembered by that.
func TestSplitZeroByClass(t *testing.T) {
	t.Parallel()
	type line struct {
		N int `effectonce:"check"`
	}
	only := canon.Fields{Identity: []string{"/0"}}
	for range 2 {
		for _, tt := range []struct {
			fields                canon.Fields
			arg                   [2]line
			identity, fingerprint string
		}{
			{only, [2]line{{N: 1}}, `["a"]`, `["a",[{"N":1}]]`},
			{canon.Fields{}, [2]line{}, `["a"]`, `["a"]`},
			{canon.Fields{}, [2]line{1: {N: 1}}, `["a"]`, `["a",[{},{"N":1}]]`},
			{only, [2]line{}, `["a"]`, `["a"]`},
		} {
			got, err := tt.fields.Split([]any{"a", tt.arg})
			if err != nil || string(got.Identity) != tt.identity || string(got.Fingerprint) != tt.fingerprint {
				t.Errorf("%+v: got %s and %s, %v; want %s and %s", tt.arg, got.Identity, got.Fingerprint, err, tt.identity, tt.fingerprint)
			}
		}
	}
}

// What is only ignored makes no second form: the two are one slice.
func TestSplitIgnoredByTagIsOneForm(t *testing.T) {
	t.Parallel()
	got, err := canon.Fields{}.Split([]any{unwritable{A: "a"}})
	if err != nil || &got.Identity[0] != &got.Fingerprint[0] {
		t.Errorf("%s and %s, %v", got.Identity, got.Fingerprint, err)
	}
	got, err = canon.Fields{}.Split([]any{refundMeta{"h", "t"}})
	if err != nil || &got.Identity[0] == &got.Fingerprint[0] {
		t.Errorf("%s and %s, %v", got.Identity, got.Fingerprint, err)
	}
}
