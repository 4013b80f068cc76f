package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

// verdict is what is right for a key. Where a trap's two values are different but
// cannot be told apart any more, refusing is right too, and said so.
type verdict string

const (
	same    verdict = "same bytes"
	diff    verdict = "different bytes"
	refused verdict = "refused"
)

type (
	payment struct {
		To     string `json:"to"`
		Amount int64  `json:"amount"`
	}
	paymentTurned struct {
		Amount int64  `json:"amount"`
		To     string `json:"to"`
	}
	paymentGrown struct {
		To      string         `json:"to"`
		Amount  int64          `json:"amount"`
		Str     string         `json:"str"`
		Int     int            `json:"int"`
		Uint    uint8          `json:"uint"`
		Float   float64        `json:"float"`
		Bool    bool           `json:"bool"`
		Pointer *int           `json:"pointer"`
		Slice   []string       `json:"slice"`
		Map     map[string]int `json:"map"`
		Any     any            `json:"any"`
		Struct  payment        `json:"struct"`
		Array   [2]int         `json:"array"`
		Structs [2]payment     `json:"structs"`
		Nested  [1][1]payment  `json:"nested"`
		Time    time.Time      `json:"time"`
	}
	patch struct {
		Labels  []string `json:"labels"`
		Enabled *bool    `json:"enabled"`
	}
	partlyHidden struct {
		Order  string
		amount int
	}
	omitting struct {
		Tags []string `json:"tags,omitempty"`
	}
	optional struct{ P *payment }
	priced   struct{ Price float64 }
	embedder struct{ *payment }
)

// pointerMarshaler has its method on the pointer, as most hand-written ones do.
type pointerMarshaler struct{ N int }

func (m *pointerMarshaler) MarshalJSON() ([]byte, error) {
	return []byte(`{"n": ` + strings.Repeat("1", m.N) + `}`), nil
}

// alwaysZero claims to be zero.
type alwaysZero struct{ N int }

func (alwaysZero) IsZero() bool { return true }

// amount is a decimal that knows only one text for each value.
type amount struct{ text string }

func (a amount) MarshalText() ([]byte, error) {
	s := a.text
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "" {
		s = "0"
	}
	return []byte(s), nil
}

type invoice struct{ Total amount }

// unstable writes its parts in another order every time, as ranging over a map
// may.
type unstable struct{ calls *int }

func (u unstable) MarshalJSON() ([]byte, error) {
	if *u.calls++; *u.calls%2 == 0 {
		return []byte(`["b","a"]`), nil
	}
	return []byte(`["a","b"]`), nil
}

// stableSet ranges over a map, but into an object.
type stableSet map[string]int

func (s stableSet) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	sep := byte('{')
	for k := range s {
		b.WriteByte(sep)
		b.WriteString(`"` + k + `": 1`)
		sep = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// unmarshal decodes as most programs do.
func unmarshal(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

func useNumber(text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

func ptr[T any](v T) *T { return &v }

// Each trap is a pair of values that some library maps to one key although they
// are two actions, or to two although they are one.
func TestTraps(t *testing.T) {
	t.Parallel()
	const a, b = 1746030112345678901, 1746030112345678902
	at := time.Date(2026, 3, 1, 12, 30, 0, 500, time.UTC)
	berlin := time.FixedZone("CET", 3600)
	now := time.Now()
	raw := func(s string) any { return json.RawMessage(s) }
	num := func(s string) any { return json.Number(s) }
	tests := []struct {
		name string
		a, b any
		want verdict
	}{
		{"[int] int64 2^53, 2^53+1", int64(1 << 53), int64(1<<53 + 1), diff},
		{"[int] uint64 max, max-1", uint64(math.MaxUint64), uint64(math.MaxUint64 - 1), diff},
		{"[int] snowflakes in map[string]any", map[string]any{"id": int64(a)}, map[string]any{"id": int64(b)}, diff},
		{"[int] snowflakes after json.Unmarshal into any", unmarshal(`{"id":1746030112345678901}`), unmarshal(`{"id":1746030112345678902}`), refused},
		{"[int] snowflakes after UseNumber", useNumber(`{"id":1746030112345678901}`), useNumber(`{"id":1746030112345678902}`), diff},
		{"[int] int64 and json.Number of one snowflake", int64(a), num("1746030112345678901"), same},
		{"[int] int64 5, float64 5", int64(5), float64(5), same},
		{"[int] int64 1e15, float64 1e15", int64(1e15), 1e15, same},
		{"[int] int64 5, string 5", int64(5), "5", diff},
		{"[int] 2^53+1, its digits as a string", int64(1<<53 + 1), "9007199254740993", diff},
		{"[num] json.Number 1, 1.0", num("1"), num("1.0"), same},
		{"[num] json.Number 100, 1e2", num("100"), num("1e2"), same},
		{"[num] json.Number 1e30, 31 digits", num("1e30"), num("1000000000000000000000000000000"), same},
		{"[num] json.Number 2^53+1 .0, 2^53", num("9007199254740993.0"), num("9007199254740992"), refused},
		{"[num] json.Number 0.1, 0.10000000000000000001", num("0.1"), num("0.10000000000000000001"), refused},
		{"[num] json.Number 18 digits, last differs", num("123456789012345.671"), num("123456789012345.672"), refused},
		{"[num] json.Number empty", num(""), nil, refused},
		{"[num] json.Number 0x10", num("0x10"), nil, refused},
		{"[num] json.Number NaN", num("NaN"), nil, refused},
		{"[num] json.Number 1e400", num("1e400"), nil, refused},
		{"[num] json.Number 1e-400, 0", num("1e-400"), num("0"), refused},
		{"[float] float32 0.1, float64 0.1", float32(0.1), 0.1, same},
		{"[float] 0.0, -0.0", 0.0, math.Copysign(0, -1), same},
		{"[float] NaN", math.NaN(), nil, refused},
		{"[float] +Inf", math.Inf(1), nil, refused},
		{"[float] complex128", 1i, nil, refused},
		{"[time] one instant, UTC and Berlin", at, at.In(berlin), same},
		{"[time] now, without the monotonic clock", now, now.Round(0), same},
		{"[time] one instant, UTC and pointer to Local", at, ptr(at.Local()), same},
		{"[time] year 10000", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), nil, refused},
		{"[time] one nanosecond apart", at, at.Add(1), diff},
		{"[bytes] RawMessage, spacing and order", raw(`{"a":1,"b":2}`), raw(`{ "b" : 2, "a" : 1 }`), same},
		{"[bytes] RawMessage, equal names", raw(`{"a":1,"a":2}`), nil, refused},
		{"[bytes] RawMessage, invalid JSON", raw(`{"a":1`), nil, refused},
		{"[bytes] RawMessage, lone surrogate", raw(`"\ud800"`), nil, refused},
		{"[bytes] RawMessage, invalid UTF-8", raw("\"\xff\""), nil, refused},
		{"[bytes] RawMessage, snowflakes", raw(`1746030112345678901`), raw(`1746030112345678902`), diff},
		{"[nil] labels nil, empty (leave, clear)", patch{}, patch{Labels: []string{}}, diff},
		{"[nil] enabled nil, pointer to false", patch{}, patch{Enabled: ptr(false)}, diff},
		{"[nil] typed nil pointer, nil", (*payment)(nil), nil, same},
		{"[nil] T, *T", payment{"x", 1}, &payment{"x", 1}, same},
		{"[nil] T, **T", payment{"x", 1}, ptr(&payment{"x", 1}), same},
		{"[nil] map any with nil, absent", map[string]any{"a": nil}, map[string]any{}, diff},
		{"[nil] omitempty nil, empty (one on the wire)", omitting{}, omitting{[]string{}}, same},
		{"[nil] nil map, empty map", map[string]int(nil), map[string]int{}, diff},
		{"[struct] only unexported fields", hidden{1}, hidden{1000}, refused},
		{"[struct] one unexported field differs (not on the wire)", partlyHidden{"o", 1}, partlyHidden{"o", 2}, same},
		{"[struct] atomic.Int64", new(atomic.Int64), nil, refused},
		{"[struct] bytes.Buffer", bytes.NewBufferString("a"), bytes.NewBufferString("b"), refused},
		{"[struct] errors in any", map[string]any{"e": errors.New("a")}, map[string]any{"e": errors.New("b")}, refused},
		{"[struct] url.URL with users", url.URL{User: url.User("alice")}, url.URL{User: url.User("bob")}, refused},
		{"[struct] embedded pointer nil, zero", embedder{}, embedder{&payment{}}, refused},
		{"[struct] two embedded, one name", both{left: left{1}}, both{left: left{2}}, refused},
		{"[struct] field order", payment{"x", 1}, paymentTurned{1, "x"}, same},
		{"[struct] struct, map with the same members", payment{"x", 1}, map[string]any{"amount": 1, "to": "x"}, same},
		{"[drift] zero fields added", payment{"x", 1}, paymentGrown{To: "x", Amount: 1}, same},
		{"[drift] IsZero always true", alwaysZero{1}, alwaysZero{2}, diff},
		{"[drift] IsZero always true, in a field", struct{ A alwaysZero }{alwaysZero{1}}, struct{ A alwaysZero }{alwaysZero{2}}, diff},
		{"[drift] float field 0, -0", priced{0}, priced{math.Copysign(0, -1)}, same},
		{"[drift] pointer to zero struct, nil", optional{&payment{}}, optional{}, diff},
		{"[map] map[int64], map[string]", map[int64]int{2: 1, 10: 2}, map[string]int{"2": 1, "10": 2}, same},
		{"[map] map[uint8], map[string]", map[uint8]int{2: 1, 10: 2}, map[string]int{"2": 1, "10": 2}, same},
		{"[map] map[any] with 2 and \"2\"", map[any]int{"2": 1, 2: 1}, nil, refused},
		{"[map] MarshalText keys", map[textKey]int{"a": 1}, nil, refused},
		{"[map] invalid UTF-8 keys collide", map[string]int{"\xff": 1, "\xfe": 2}, nil, refused},
		{"[meth] (*T).MarshalJSON: T, *T", pointerMarshaler{2}, &pointerMarshaler{2}, same},
		{"[meth] (*T).MarshalJSON in a field: T, *T", struct{ M pointerMarshaler }{pointerMarshaler{2}}, struct{ M *pointerMarshaler }{&pointerMarshaler{2}}, same},
		{"[meth] (*T).MarshalJSON in a map: T, *T", map[string]pointerMarshaler{"k": {2}}, map[string]*pointerMarshaler{"k": {2}}, same},
		{"[meth] MarshalJSON spacing", marshaler(`{"a":1}`), marshaler(`{ "a" : 1.0 }`), same},
		{"[meth] MarshalJSON equal names", marshaler(`{"a":1,"a":2}`), nil, refused},
		{"[meth] MarshalJSON lone surrogate", marshaler(`"\udc00"`), nil, refused},
		{"[meth] MarshalJSON invalid UTF-8", marshaler("\"\xff\""), nil, refused},
		{"[meth] MarshalJSON two values", marshaler(`1 1`), nil, refused},
		{"[meth] MarshalJSON ranges over a map", stableSet{"a": 1, "b": 1, "c": 1}, stableSet{"c": 1, "b": 1, "a": 1}, same},
		{"[str] invalid UTF-8", "\xff", "\xfe", refused},
		{"[str] invalid UTF-8, U+FFFD", "\xff", "\ufffd", refused},
		{"[str] NFC, NFD", "\u00e5", "a\u030a", diff},
		{"[str] surrogate code point in a Go string", "\xed\xa0\x80", nil, refused},
		{"[big] big.Int snowflakes", big.NewInt(a), big.NewInt(b), diff},
		{"[big] big.Int 5, int 5", big.NewInt(5), 5, same},
		{"[big] big.Int 10^30, its json.Number", new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil), num("1e30"), same},
		{"[big] big.Int value, pointer", *big.NewInt(5), big.NewInt(5), same},
		{"[big] decimal 1.10, 1.1", amount{"1.10"}, amount{"1.1"}, same},
		{"[big] decimal zero value, 0.00, in a struct", invoice{}, invoice{amount{"0.00"}}, same},
		{"[misc] func", func() {}, nil, refused},
		{"[misc] chan", make(chan int), nil, refused},
		{"[misc] netip.Addr, its text", netip.MustParseAddr("10.0.0.1"), "10.0.0.1", same},
		{"[misc] []byte, its base64", []byte("hi"), "aGk=", same},
		{"[misc] [2]byte, numbers", [2]byte{1, 2}, []int{1, 2}, same},
		{"[misc] duration, nanoseconds", time.Second, 1_000_000_000, same},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, errX := canon.Value(nil, tt.a)
			y, errY := canon.Value(nil, tt.b)
			got := same
			switch {
			case errX != nil || errY != nil:
				got = refused
			case !bytes.Equal(x, y):
				got = diff
			}
			if got != tt.want {
				t.Errorf("%s\n%s, %v\n%s, %v\nwant %s", got, x, errX, y, errY, tt.want)
			}
		})
	}
}

func TestTrapUnstableMarshaler(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, in := range []any{unstable{&calls}, []any{unstable{&calls}}, map[string]unstable{"k": {&calls}}} {
		got, err := canon.Value(nil, in, canon.Verify())
		checkRefused(t, got, err, canon.ErrUnstable)
	}
	_, err := canon.Fields{}.Split([]any{unstable{&calls}}, canon.Verify())
	if !errors.Is(err, canon.ErrUnstable) {
		t.Errorf("Split: %v", err)
	}
	if _, err := canon.Value(nil, stableSet{"a": 1, "b": 1}, canon.Verify()); err != nil {
		t.Errorf("a stable marshaler: %v", err)
	}
}

// Shared sub-values would be written 2^n times.
func TestTrapSharedValues(t *testing.T) {
	t.Parallel()
	var shared any = "leaf"
	for range 100 {
		shared = map[string]any{"a": shared, "b": shared}
	}
	got, err := canon.Value(nil, shared, canon.MaxSize(1<<16))
	checkRefused(t, got, err, canon.ErrSize)
	_, err = canon.Fields{Identity: []string{"/0/x"}}.Split([]any{shared}, canon.MaxSize(1<<16))
	if !errors.Is(err, canon.ErrSize) {
		t.Errorf("Split: %v", err)
	}
}

// So would a long string that is shared.
func TestTrapSharedStrings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	typed := make([]string, 100_000)
	list := make([]any, len(typed))
	table := make(map[int]string, len(typed))
	for i := range typed {
		typed[i], list[i], table[i] = long, long, long
	}
	for _, in := range []any{typed, list, table} {
		got, err := canon.Value(nil, in)
		checkRefused(t, got, err, canon.ErrSize)
	}
}
