package canon_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

// What must be refused, and with what.
func TestTextRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     error
	}{
		{"empty", "", canon.ErrSyntax},
		{"only space", " \n", canon.ErrSyntax},
		{"second value", "1 2", canon.ErrSyntax},
		{"second object", "{}{}", canon.ErrSyntax},
		{"trailing letter", "{}x", canon.ErrSyntax},
		{"trailing zero byte", "1\x00", canon.ErrSyntax},
		{"no comma", "[1 2]", canon.ErrSyntax},
		{"no comma before a literal", "[1 true]", canon.ErrSyntax},
		{"split literal", "[tr ue]", canon.ErrSyntax},
		{"trailing comma in an array", "[1,]", canon.ErrSyntax},
		{"trailing comma in an object", `{"a":1,}`, canon.ErrSyntax},
		{"double comma", "[1,,2]", canon.ErrSyntax},
		{"leading comma", "[,1]", canon.ErrSyntax},
		{"double comma in an object", `{"a":1,,"b":2}`, canon.ErrSyntax},
		{"no comma in an object", `{"a":1 "b":2}`, canon.ErrSyntax},
		{"no colon", `{"a" 1}`, canon.ErrSyntax},
		{"no value", `{"a":}`, canon.ErrSyntax},
		{"no name", `{:1}`, canon.ErrSyntax},
		{"name without quotes", `{a:1}`, canon.ErrSyntax},
		{"name in single quotes", `{'a':1}`, canon.ErrSyntax},
		{"number as a name", `{1:1}`, canon.ErrSyntax},
		{"open array", "[1", canon.ErrSyntax},
		{"open object", `{"a":1`, canon.ErrSyntax},
		{"only an opening brace", "{", canon.ErrSyntax},
		{"closed twice", "[]]", canon.ErrSyntax},
		{"closed wrongly", "[1}", canon.ErrSyntax},
		{"line comment", "1 // one", canon.ErrSyntax},
		{"block comment", "[1,/* two */2]", canon.ErrSyntax},
		{"hash comment", "# one\n1", canon.ErrSyntax},
		{"leading zero", "01", canon.ErrSyntax},
		{"leading zero after minus", "-01", canon.ErrSyntax},
		{"zeros", "00", canon.ErrSyntax},
		{"plus", "+1", canon.ErrSyntax},
		{"no integer part", ".5", canon.ErrSyntax},
		{"no fraction", "1.", canon.ErrSyntax},
		{"no exponent", "1e", canon.ErrSyntax},
		{"no exponent after plus", "1e+", canon.ErrSyntax},
		{"no fraction before the exponent", "1.e5", canon.ErrSyntax},
		{"two points", "1.2.3", canon.ErrSyntax},
		{"fraction in the exponent", "1e1.5", canon.ErrSyntax},
		{"minus alone", "-", canon.ErrSyntax},
		{"two minus", "--1", canon.ErrSyntax},
		{"hexadecimal", "0x10", canon.ErrSyntax},
		{"hexadecimal float", "0x1p4", canon.ErrSyntax},
		{"underscore", "1_000", canon.ErrSyntax},
		{"grouping", "1,000", canon.ErrSyntax},
		{"NaN", "NaN", canon.ErrSyntax},
		{"Infinity", "Infinity", canon.ErrSyntax},
		{"-Infinity", "-Infinity", canon.ErrSyntax},
		{"True", "True", canon.ErrSyntax},
		{"nul", "nul", canon.ErrSyntax},
		{"nulll", "nulll", canon.ErrSyntax},
		{"undefined", "undefined", canon.ErrSyntax},
		{"bare word", "abc", canon.ErrSyntax},
		{"single quotes", "'a'", canon.ErrSyntax},
		{"open string", `"abc`, canon.ErrSyntax},
		{"open string of 8", `"abcdefgh`, canon.ErrSyntax},
		{"open string of 16", `"abcdefghijklmnop`, canon.ErrSyntax},
		{"open string of 16 with an escape", `"abcdefgh\n123456`, canon.ErrSyntax},
		{"open string after a backslash", `"abc\`, canon.ErrSyntax},
		{"escaped closing quote", `"abc\"`, canon.ErrSyntax},
		{"unknown escape", `"\a"`, canon.ErrSyntax},
		{"octal escape", `"\012"`, canon.ErrSyntax},
		{"hexadecimal escape", `"\x41"`, canon.ErrSyntax},
		{"capital U escape", `"\U0041"`, canon.ErrSyntax},
		{"short escape", `"\u004"`, canon.ErrSyntax},
		{"escape with a letter", `"\u004g"`, canon.ErrSyntax},
		{"escape with a sign", `"\u+041"`, canon.ErrSyntax},
		{"raw newline", "\"a\nb\"", canon.ErrSyntax},
		{"raw tab", "\"a\tb\"", canon.ErrSyntax},
		{"raw zero byte", "\"a\x00b\"", canon.ErrSyntax},
		{"raw newline in a name", "{\"a\nb\":1}", canon.ErrSyntax},
		{"byte order mark", "\ufeff1", canon.ErrSyntax},
		{"form feed as space", "\f1", canon.ErrSyntax},
		{"vertical tab as space", "\v1", canon.ErrSyntax},
		{"NBSP as space", "\u00a01", canon.ErrSyntax},
		{"line separator as space", "\u20281", canon.ErrSyntax},
		{"UTF-16 little endian", "\xff\xfe1\x00", canon.ErrSyntax},
		{"UTF-16 without a mark", "1\x00", canon.ErrSyntax},
		{"0xFF outside a string", "\xff", canon.ErrSyntax},

		{"0xFF", "\"\xff\"", canon.ErrUTF8},
		{"0xFF in a name", "{\"\xff\":1}", canon.ErrUTF8},
		{"lone continuation", "\"\x80\"", canon.ErrUTF8},
		{"overlong solidus", "\"\xc0\xaf\"", canon.ErrUTF8},
		{"overlong in three bytes", "\"\xe0\x80\xaf\"", canon.ErrUTF8},
		{"overlong in four bytes", "\"\xf0\x80\x80\xaf\"", canon.ErrUTF8},
		{"overlong zero", "\"\xc0\x80\"", canon.ErrUTF8},
		{"CESU-8", "\"\xed\xa0\xbd\xed\xb8\x80\"", canon.ErrUTF8},
		{"surrogate in UTF-8", "\"\xed\xb0\x80\"", canon.ErrUTF8},
		{"truncated two bytes", "\"\xc3\"", canon.ErrUTF8},
		{"truncated three bytes", "\"\xe2\x82\"", canon.ErrUTF8},
		{"truncated four bytes", "\"\xf0\x9f\x98\"", canon.ErrUTF8},
		{"truncated by the end", "\"\xf0\x9f\x98", canon.ErrUTF8},
		{"above U+10FFFF", "\"\xf4\x90\x80\x80\"", canon.ErrUTF8},
		{"five bytes", "\"\xf8\x88\x80\x80\x80\"", canon.ErrUTF8},

		{"lone high surrogate", `"\ud800"`, canon.ErrSurrogate},
		{"lone low surrogate", `"\udc00"`, canon.ErrSurrogate},
		{"reversed surrogates", `"\ude00\ud83d"`, canon.ErrSurrogate},
		{"doubled high surrogate", `"\ud83d\ud83d\ude00"`, canon.ErrSurrogate},
		{"doubled low surrogate", `"\ud83d\ude00\ude00"`, canon.ErrSurrogate},
		{"high surrogate before a letter", `"\ud83d\u0041"`, canon.ErrSurrogate},
		{"high surrogate before a short escape", `"\ud83d\n"`, canon.ErrSurrogate},
		{"high surrogate before raw text", `"\ud83dx"`, canon.ErrSurrogate},
		{"lone surrogate in a name", `{"\ud800":1}`, canon.ErrSurrogate},

		{"equal names", `{"a":1,"a":1}`, canon.ErrDuplicate},
		{"equal names apart", `{"a":1,"b":2,"a":3}`, canon.ErrDuplicate},
		{"equal once unescaped", `{"a":1,"\u0061":2}`, canon.ErrDuplicate},
		{"equal once unescaped, escape first", `{"\u0061":1,"a":2}`, canon.ErrDuplicate},
		{"equal nested", `[{"x":{"a":1,"a":2}}]`, canon.ErrDuplicate},
		{"equal empty names", `{"":1,"":2}`, canon.ErrDuplicate},
		{"equal among many", `{"e":1,"d":2,"c":3,"b":4,"a":5,"c":6}`, canon.ErrDuplicate},
		{"equal long names", `{"abcdefghij":1,"abcdefgha":2,"abcdefghij":3}`, canon.ErrDuplicate},
		{"equal astral names", `{"\ud83d\ude00":1,"😀":2}`, canon.ErrDuplicate},

		{"1e400", "1e400", canon.ErrRange},
		{"-1e400", "-1e400", canon.ErrRange},
		{"1.8e308", "1.8e308", canon.ErrRange},
		{"1e999999999999999999999", "1e999999999999999999999", canon.ErrRange},
		{"1 and 400 zeros", "1" + strings.Repeat("0", 400), canon.ErrRange},
		{"400 nines", strings.Repeat("9", 400), canon.ErrRange},

		{"2^53+1 with a fraction", "9007199254740993.0", canon.ErrLossy},
		{"2^53+1 with an exponent", "9007199254740993e0", canon.ErrLossy},
		{"0.1 and a bit", "0.10000000000000000001", canon.ErrLossy},
		{"18 digit amount", "123456789012345.671", canon.ErrLossy},
		{"its neighbour", "123456789012345.672", canon.ErrLossy},
		{"1e-400", "1e-400", canon.ErrLossy},
		{"2e-324", "2e-324", canon.ErrLossy},
		{"half the smallest double", "2.4703282292062327e-324", canon.ErrLossy},
		{"1e-999999999999999999999", "1e-999999999999999999999", canon.ErrLossy},
		{"the smallest double, in full", "4.9406564584124654e-324", canon.ErrLossy},
		{"above the largest double, rounding to it", "1.7976931348623158e308", canon.ErrLossy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := canon.Text(nil, []byte(tt.in))
			checkRefused(t, got, err, tt.want)
			var e *canon.Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(tt.in) {
				t.Errorf("no offset in %#v", err)
			}
			// The same text as a part of a Go value.
			_, err = canon.Value(nil, struct{ Raw json.RawMessage }{json.RawMessage(tt.in)})
			if !errors.As(err, &e) || e.Reason != tt.want || e.Path != ".Raw" {
				t.Errorf("as a RawMessage: %v", err)
			}
		})
	}
}

func checkRefused(t *testing.T, got []byte, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || !errors.Is(err, canon.ErrRefused) {
		t.Fatalf("got %q, %v; want %v", got, err, want)
	}
	if len(got) > 0 {
		t.Errorf("got %q together with an error", got)
	}
}

type marshaler string

func (m marshaler) MarshalJSON() ([]byte, error) { return []byte(m), nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("secret content") }

type textKey string

func (k textKey) MarshalText() ([]byte, error) { return []byte(k), nil }

func TestValueRefuses(t *testing.T) {
	t.Parallel()
	cycle := map[string]any{}
	cycle["self"] = cycle
	list := make([]any, 1)
	list[0] = list
	type ring *ring
	var r ring
	r = &r
	type linked struct{ Next *linked }
	link := &linked{}
	link.Next = link
	var box any
	box = &box
	tests := []struct {
		name string
		in   any
		want error
	}{
		{"json.Number empty", json.Number(""), canon.ErrSyntax},
		{"json.Number not set", struct{ N json.Number }{}, canon.ErrSyntax},
		{"json.Number word", json.Number("abc"), canon.ErrSyntax},
		{"json.Number hexadecimal", json.Number("0x10"), canon.ErrSyntax},
		{"json.Number NaN", json.Number("NaN"), canon.ErrSyntax},
		{"json.Number space", json.Number(" 1"), canon.ErrSyntax},
		{"json.Number newline", json.Number("1\n"), canon.ErrSyntax},
		{"json.Number array", json.Number("[1]"), canon.ErrSyntax},
		{"MarshalJSON two values", marshaler("1 2"), canon.ErrSyntax},
		{"MarshalJSON nothing", marshaler(""), canon.ErrSyntax},
		{"RawMessage empty", json.RawMessage{}, canon.ErrSyntax},
		{"string", "\xff", canon.ErrUTF8},
		{"string truncated", "abc\xe2\x82", canon.ErrUTF8},
		{"string CESU-8", "\xed\xa0\xbd\xed\xb8\x80", canon.ErrUTF8},
		{"map key", map[string]int{"\xff": 1}, canon.ErrUTF8},
		{"MarshalJSON invalid UTF-8", marshaler("\"\xff\""), canon.ErrUTF8},
		{"MarshalText invalid UTF-8", textKey("\xff"), canon.ErrUTF8},
		{"MarshalJSON lone surrogate", marshaler(`"\ud800"`), canon.ErrSurrogate},
		{"MarshalJSON equal names", marshaler(`{"a":1,"a":2}`), canon.ErrDuplicate},
		{"json.Number 1e400", json.Number("1e400"), canon.ErrRange},
		{"NaN", math.NaN(), canon.ErrRange},
		{"+Inf", math.Inf(1), canon.ErrRange},
		{"-Inf", float32(math.Inf(-1)), canon.ErrRange},
		{"year 10000", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), canon.ErrRange},
		{"year 10000 only in UTC", time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)), canon.ErrRange},
		{"year -1", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), canon.ErrRange},
		{"json.Number 1e-400", json.Number("1e-400"), canon.ErrLossy},
		{"json.Number 2^53+1 .0", json.Number("9007199254740993.0"), canon.ErrLossy},
		{"float 2^53", float64(1 << 53), canon.ErrUnsafeFloat},
		{"float -2^53", float64(-1 << 53), canon.ErrUnsafeFloat},
		{"float 1e300", 1e300, canon.ErrUnsafeFloat},
		{"float32 1e30", float32(1e30), canon.ErrUnsafeFloat},
		{"cyclic map", cycle, canon.ErrDepth},
		{"cyclic slice", list, canon.ErrDepth},
		{"cyclic pointer", r, canon.ErrDepth},
		{"cyclic interface", box, canon.ErrDepth},
		{"cyclic struct", link, canon.ErrDepth},
		{"MarshalJSON error", failing{}, canon.ErrMarshal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []any{tt.in, []any{tt.in}, map[string]any{"k": tt.in}, struct{ F any }{tt.in}} {
				got, err := canon.Value(nil, in)
				checkRefused(t, got, err, tt.want)
				var e *canon.Error
				if !errors.As(err, &e) {
					t.Fatalf("%T is not a *canon.Error", err)
				}
			}
		})
	}
}

// Errors go to logs and histories, where content has no business.
func TestErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	inputs := []any{
		json.RawMessage(`{"secret":1,"secret":2}`),
		json.RawMessage(`["secret", secret]`),
		map[string]any{"secret": "\xffsecret"},
		map[string]any{"secret": math.NaN()},
		json.Number("secret"),
		marshaler("secret"),
		failing{},
	}
	for _, in := range inputs {
		_, err := canon.Value(nil, []any{in})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
	type known struct{ A int }
	if _, err := canon.Decode[known]([]byte(`{"secret":1}`)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	type item struct {
		Price any `json:"price"`
	}
	type order struct {
		Items  []item
		Labels map[string]any
		Next   *order
	}
	tests := []struct {
		in         any
		path, text string
	}{
		{order{Items: []item{{}, {math.NaN()}}}, ".Items[1].Price",
			"canon: out of range: float is not finite, at .Items[1].Price"},
		{order{Labels: map[string]any{"x": "\xff"}}, ".Labels[*]", "canon: invalid UTF-8, at .Labels[*]"},
		{&order{Next: &order{Items: []item{{json.RawMessage(`[1,`)}}}}, ".Next.Items[0].Price",
			"canon: not exactly one JSON value: unexpected end, at .Next.Items[0].Price, at byte 3"},
		{1e300, "", "canon: float above 2^53-1 may already be rounded: decode with json.Number, " +
			"json.RawMessage, a typed field or canon.Decode"},
	}
	for _, tt := range tests {
		_, err := canon.Value(nil, tt.in)
		var e *canon.Error
		if !errors.As(err, &e) || e.Path != tt.path || err.Error() != tt.text {
			t.Errorf("got  %v\nwant %s", err, tt.text)
		}
	}
}
