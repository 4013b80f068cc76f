package canon_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

var seeds = []string{
	`null`, ` [ 1 , 2.50 , -0 , 1e21 , 1E-7 ] `, `{"b":1,"a":{"d":[],"c":{}}}`,
	`{"\ud83d\ude00":1,"\uffff":2,"\u0000":3,"\"":4}`, `"\u0041\/\n\u000A\u001f"`,
	`9007199254740993`, `1746030112345678901`, `0.30000000000000004`, `5e-324`, `1.7976931348623157e308`,
	`1000000000000000000000000000001`, `{"a":1,"\u0061":2}`, `0.10000000000000000001`, `[[[[[[[[]]]]]]]]`,
	`{"z":"x","y":[{"b":null,"a":true}],"x":123456789012345.6}`, "\"\xff\"", `"\ud800"`, `0e99999999999`,
}

// Whatever is accepted has the same value as before, exactly, and is its own
// canonical form.
func FuzzText(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := canon.Text(nil, in)
		if err != nil {
			if len(got) > 0 {
				t.Fatalf("got %q together with %v", got, err)
			}
			return
		}
		again, err := canon.Text(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not idempotent: %q, %q, %v", got, again, err)
		}
		if !equal(model(t, in), model(t, got)) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

// Two texts have equal canonical forms if and only if they are equal values.
func FuzzInjective(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]))
		f.Add([]byte(s), []byte(" "+s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, errX := canon.Text(nil, a)
		y, errY := canon.Text(nil, b)
		if errX != nil || errY != nil {
			return
		}
		if want := equal(model(t, a), model(t, b)); bytes.Equal(x, y) != want {
			t.Fatalf("%q and %q: equal %v, but canonical forms %q and %q", a, b, want, x, y)
		}
	})
}

// The value route gives the bytes of the text route.
func FuzzValue(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, errText := canon.Text(nil, in)
		v, err := canon.Decode[any](in)
		if (err == nil) != (errText == nil) {
			t.Fatalf("Text: %v; Decode: %v", errText, err)
		}
		if err != nil {
			return
		}
		for _, v := range []any{v, json.RawMessage(in)} {
			got, err := canon.Value(nil, v)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q: text gives %q, %T gives %q, %v", in, want, v, got, err)
			}
		}
	})
}

// An ignored member leaves no trace, whatever it is called and holds, and other
// members are not touched.
func FuzzSplit(f *testing.F) {
	f.Add("note", "x", []byte(`{"a":1}`))
	f.Add("a/b~", "\n", []byte(`{"a/b":[1,2],"\u0061":null}`))
	f.Fuzz(func(t *testing.T, name, content string, in []byte) {
		v, err := canon.Decode[map[string]any](in)
		if err != nil || v == nil {
			return
		}
		if _, err := canon.Value(nil, []string{name, content}); err != nil {
			return
		}
		delete(v, name)
		plain, err := canon.Fields{}.Split([]any{v, 1})
		if err != nil {
			t.Fatal(err)
		}
		v[name] = content
		path := "/0/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		text, err := canon.Value(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range []any{v, json.RawMessage(text)} {
			ignored, err := canon.Fields{Ignore: []string{path}}.Split([]any{arg, 1})
			if err != nil || !bytes.Equal(ignored.Identity, plain.Identity) || !bytes.Equal(ignored.Fingerprint, plain.Fingerprint) {
				t.Fatalf("%q: %s, %v; want %s", path, ignored.Identity, err, plain.Identity)
			}
			checked, err := canon.Fields{Check: []string{path}}.Split([]any{arg, 1})
			if err != nil || !bytes.Equal(checked.Identity, plain.Identity) {
				t.Fatalf("%q: %s, %v; want %s", path, checked.Identity, err, plain.Identity)
			}
			if paths := canon.Diff(plain.Digests, checked.Digests); len(v) > 1 && (len(paths) != 1 || paths[0] != path) {
				t.Fatalf("%q: Diff %q", path, paths)
			}
			only, err := canon.Fields{Identity: []string{path}}.Split([]any{arg, 1})
			want, _ := canon.Value(nil, []any{map[string]string{name: content}})
			if err != nil || !bytes.Equal(only.Identity, want) {
				t.Fatalf("%q: %s, %v; want %s", path, only.Identity, err, want)
			}
		}
	})
}

// Random values from a small universe, so that equal ones are frequent, in random
// spellings.
func TestInjective(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	equals, pairs := 0, 30_000
	if testing.Short() || slow {
		pairs = 3_000
	}
	for range pairs {
		a, b := spell(r, 2), spell(r, 2)
		x, errX := canon.Text(nil, []byte(a))
		y, errY := canon.Text(nil, []byte(b))
		if errX != nil || errY != nil {
			t.Fatalf("%s: %v; %s: %v", a, errX, b, errY)
		}
		want := equal(model(t, []byte(a)), model(t, []byte(b)))
		if bytes.Equal(x, y) != want {
			t.Fatalf("%s and %s: equal %v, but canonical forms %s and %s", a, b, want, x, y)
		}
		if want {
			equals++
		}
	}
	if equals < pairs/100 || equals > pairs/2 {
		t.Errorf("%d of %d pairs are equal: the test says little", equals, pairs)
	}
}

// spell writes a random value in a random spelling.
func spell(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	space := func() string { return pick("", "", " ", "\n\t") }
	word := func() string { return pick(`""`, `"a"`, `"\u0061"`, `"b"`, `"\n"`, `"\u000A"`, `"\/"`, `"/"`) }
	n := 8
	if depth == 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return pick("null", "true", "false")
	case 1:
		return word()
	case 2:
		return pick("0", "-0", "0.0", "0e5", "1", "1.0", "10e-1", "0.1e1", "-1", "100", "1e2", "1E+2")
	case 3:
		return pick("9007199254740992", "9007199254740992.0", "9007199254740993", "1e21", "1000000000000000000000",
			"1000000000000000000001", "1e30", "1000000000000000000000000000000")
	case 4:
		return pick("0.1", "0.10", "1e-1", "0.000001", "1e-6", "1e-7", "0.0000001", "0.30000000000000004", "0.3")
	case 5:
		return strconv.Itoa(r.IntN(3))
	case 6:
		parts := make([]string, r.IntN(3))
		for i := range parts {
			parts[i] = space() + spell(r, depth-1) + space()
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	names := []string{pick(`"a"`, `"\u0061"`), pick(`"b"`, `"\u0062"`), pick(`"\ud83d\ude00"`, `"😀"`)}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:r.IntN(3)]
	for i, name := range names {
		names[i] = space() + name + space() + ":" + spell(r, depth-1)
	}
	return "{" + strings.Join(names, ",") + "}"
}
