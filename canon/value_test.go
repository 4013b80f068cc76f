package canon_test

import (
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

type (
	named   string
	octet   byte
	address struct {
		Street string `json:"street"`
		City   string `json:"city,omitempty"`
	}
	contact struct {
		Email string
		Phone string `json:"phone"`
	}
	Base struct {
		ID   int `json:"id"`
		Name string
	}
	Deep struct {
		Base
		Name string // hides Base.Name
	}
	TaggedWins struct {
		A contactA
		contactB
		contactC
	}
	contactA struct{ X int }
	contactB struct{ Mail string }
	contactC struct {
		Address string `json:"Mail"`
	}
	tags struct {
		Plain     int
		Renamed   int    `json:"renamed"`
		Dash      int    `json:"-,"`
		Hidden    int    `json:"-"`
		NoName    int    `json:",omitempty"`
		BadName   int    `json:"a\"b"`
		Odd       int    `json:"a/b.c"`
		Umlaut    int    `json:"größe"`
		ID        int64  `json:"id,string"`
		Flag      bool   `json:",string"`
		Ratio     *int   `json:"ratio,string"`
		OmitZero  int    `json:"oz,omitzero"`
		internal  string //nolint:unused // ignored
		Interface any
	}
	embedsNamed struct {
		named
		Octets
		*Count
	}
	Octets       []octet
	Count        int
	embedsTagged struct {
		Base    `json:"base"`
		address `json:"address"`
	}
	tree struct {
		Value int
		Left  *tree
		Right *tree
	}
	empty struct{}
)

func (tags) String() string { return "not used" }

// The canonical bytes of Go values, written by hand: they are a promise.
func TestValue(t *testing.T) {
	t.Parallel()
	count := Count(3)
	at := time.Date(2026, 3, 1, 12, 30, 5, 0, time.FixedZone("", 3600))
	values := map[string]any{
		"nil":                          nil,
		"true":                         true,
		"int8":                         int8(-128),
		"int64 min":                    int64(math.MinInt64),
		"uint64 max":                   uint64(math.MaxUint64),
		"uintptr":                      uintptr(7),
		"rune":                         'a',
		"float64":                      1.5,
		"float64 small":                1e-7,
		"float64 integer":              3.0,
		"float64 of a float32":         float64(float32(0.1)),
		"string":                       "a\"b\\c\n\u0001<>&\u2028é😀",
		"named string":                 named("x"),
		"bytes":                        []byte{0xfb, 0xff, 0},
		"bytes nil":                    []byte(nil),
		"bytes empty":                  []byte{},
		"bytes named":                  []octet("hi"),
		"bytes array":                  [3]byte{1, 2, 3},
		"slice":                        []int{3, 1, 2},
		"slice nil":                    []int(nil),
		"slice empty":                  []int{},
		"slice of any":                 []any{nil, true, 1, "x", []any{}, map[string]any{}},
		"array of structs":             [2]address{{"a", "b"}, {}},
		"map":                          map[string]int{"b": 1, "a": 2, "": 3},
		"map nil":                      map[string]int(nil),
		"map empty":                    map[string]int{},
		"map of named strings":         map[named]bool{"z": true, "y": false},
		"map of any":                   map[string]any{"n": nil, "b": 0, "a": ""},
		"map with astral keys":         map[string]int{"\ue000": 1, "😀": 2, "a": 3},
		"map with int keys":            map[int]string{-1: "a", 10: "b", 9: "c"},
		"map with uint64 keys":         map[uint64]int{math.MaxUint64: 1},
		"map of maps":                  map[string]map[string]int{"b": {"y": 1, "x": 2}, "a": nil},
		"struct":                       address{"Main", "Berlin"},
		"struct zero":                  address{},
		"struct empty":                 empty{},
		"struct in a map":              map[string]address{"home": {Street: "Main"}},
		"struct pointer":               &address{Street: "Main"},
		"struct without tags":          contact{"e", "p"},
		"embedded":                     Deep{Base{1, "base"}, "deep"},
		"embedded, tag wins":           TaggedWins{contactA{1}, contactB{"b"}, contactC{"c"}},
		"embedded, named types":        embedsNamed{"ignored", Octets("hi"), &count},
		"embedded, tagged":             embedsTagged{Base{1, "n"}, address{"s", "c"}},
		"tags":                         tags{1, 2, 3, 4, 5, 6, 7, 8, 9, true, ptr(5), 11, "i", "x"},
		"tags zero":                    tags{},
		"recursive":                    tree{1, &tree{2, nil, nil}, &tree{Left: &tree{}}},
		"time":                         at,
		"time with a fraction":         at.Add(120 * time.Millisecond),
		"time with nanoseconds":        at.Add(1),
		"time zero":                    time.Time{},
		"time year 0":                  time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"time pointer nil":             (*time.Time)(nil),
		"duration":                     90 * time.Second,
		"json.Number":                  json.Number("1.50e1"),
		"RawMessage":                   json.RawMessage(` {"b":1.0,"a":[]} `),
		"RawMessage nil":               json.RawMessage(nil),
		"RawMessage in a struct":       struct{ R json.RawMessage }{json.RawMessage(`0`)},
		"RawMessage null in a struct":  struct{ R json.RawMessage }{json.RawMessage(`null`)},
		"big.Int":                      big.NewInt(-1746030112345678901),
		"big.Int 10^21":                new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil),
		"big.Int 10^21+1":              new(big.Int).Add(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil)),
		"big.Rat":                      big.NewRat(1, 3),
		"netip.Addr":                   netip.MustParseAddr("::1"),
		"MarshalText":                  textKey("a\"b"),
		"MarshalJSON":                  marshaler(`{"b":1, "a":1e2}`),
		"MarshalJSON null":             marshaler(`null`),
		"pointer marshaler in a slice": []pointerMarshaler{{1}, {2}},
	}
	rows := golden(t, "values.tsv", 2)
	if len(rows) != len(values) {
		t.Errorf("%d golden values for %d values", len(rows), len(values))
	}
	for _, row := range rows {
		name, want := row[0], row[1]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, ok := values[name]
			if !ok {
				t.Fatal("no such value")
			}
			got, err := canon.Value([]byte("before "), v, canon.Verify())
			if err != nil || string(got) != "before "+want {
				t.Errorf("Value(%#v)\n got %s, %v\nwant %s", v, got, err, want)
			}
			again, err := canon.Text(nil, []byte(want))
			if err != nil || string(again) != want {
				t.Errorf("Text does not agree: %s, %v", again, err)
			}
		})
	}
}

func TestValueReturnsDstOnError(t *testing.T) {
	t.Parallel()
	got, err := canon.Value([]byte("before"), []any{1, make(chan int)})
	if err == nil || string(got) != "before" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A struct that embeds a type with MarshalJSON, but has its own, is its own.
type stamped struct {
	marshaler //nolint:unused // what it promotes is the point
	At        int
}

func (stamped) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

type pointerStamped struct {
	marshaler //nolint:unused // what it promotes is the point
	At        int
}

func (*pointerStamped) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

func TestValuePromotedMethods(t *testing.T) {
	t.Parallel()
	for _, in := range []any{stamped{}, &stamped{}, pointerStamped{}, &pointerStamped{}} {
		got, err := canon.Value(nil, in)
		if err != nil || string(got) != `"own"` {
			t.Errorf("Value(%T) = %s, %v", in, got, err)
		}
	}
	for _, in := range []any{
		struct {
			marshaler
			Amount int
		}{`1`, 5},
		&struct {
			*pointerMarshaler
			Amount int
		}{},
		struct {
			textKey
			Amount int
		}{},
	} {
		got, err := canon.Value(nil, in)
		checkRefused(t, got, err, canon.ErrType)
	}
}

// The zero value of a type whose method cannot write it is simply not left out.
type needsValue struct{ v *int }

func (n needsValue) MarshalJSON() ([]byte, error) { return json.Marshal(*n.v) }

func TestValueZeroThatPanics(t *testing.T) {
	t.Parallel()
	got, err := canon.Value(nil, struct{ N needsValue }{needsValue{ptr(5)}})
	if err != nil || string(got) != `{"N":5}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestValueFromManyGoroutines(t *testing.T) {
	t.Parallel()
	type fresh struct {
		A map[string]any
		B []*fresh
		C json.RawMessage
	}
	v := fresh{map[string]any{"y": 1, "x": []any{2.5}}, []*fresh{{}, nil}, json.RawMessage(`{"b":1,"a":2}`)}
	want := `{"A":{"x":[2.5],"y":1},"B":[{},null],"C":{"a":2,"b":1}}`
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 100 {
				got, err := canon.Value(nil, v)
				if err != nil || string(got) != want {
					t.Fatalf("got %s, %v", got, err)
				}
			}
		})
	}
}

// The zero form of an array depends on that of its elements, whichever type is
// looked at first.
func TestValueZeroArrays(t *testing.T) {
	t.Parallel()
	type (
		a  string
		b  struct{ F a }
		c  int
		d  struct{ F [1]c }
		e  bool
		f  struct{ F [1][1]e }
		g  float64
		h  struct{ F, G g }
		of struct {
			A [1]b
			B [1][2]d
			C [2]f
			D [1][1][1]h
		}
	)
	for _, v := range []any{of{}, struct{ X of }{}, map[string]any{}, struct{ A [1]b }{}, struct{ D [1][1]h }{}} {
		if got, err := canon.Value(nil, v); err != nil || string(got) != "{}" {
			t.Errorf("Value(%#v) = %s, %v", v, got, err)
		}
	}
}

// A field whose value is not zero, but is written as the zero value would be, is
// left out all the same.
func TestStructFieldWithTheFormOfZero(t *testing.T) {
	t.Parallel()
	minusZero := math.Copysign(0, -1)
	values := map[string]any{
		"pointer to a nil pointer":  struct{ P **int }{new(*int)},
		"pointer to a nil map":      struct{ P *map[string]int }{new(map[string]int)},
		"interface of a nil map":    struct{ V any }{map[string]int(nil)},
		"interface of a typed nil":  struct{ V any }{(*int)(nil)},
		"minus zero":                struct{ F float64 }{minusZero},
		"minus zero, float32":       struct{ F float32 }{float32(minusZero)},
		"minus zero in an array":    struct{ F [1]float64 }{[1]float64{minusZero}},
		"minus zero in a struct":    struct{ S struct{ F float64 } }{struct{ F float64 }{minusZero}},
		"null in a RawMessage":      struct{ R json.RawMessage }{json.RawMessage("null")},
		"zero instant, other place": struct{ T time.Time }{time.Time{}.In(time.FixedZone("", 3600))},
	}
	for name, v := range values {
		got, err := canon.Value(nil, v)
		if err != nil || string(got) != "{}" {
			t.Errorf("%s: got %s, %v; want {}", name, got, err)
		}
	}
	kept := struct {
		S []int
		M map[string]int
		B []byte
		P *int
	}{[]int{}, map[string]int{}, []byte{}, new(int)}
	got, err := canon.Value(nil, kept)
	if want := `{"B":"","M":{},"P":0,"S":[]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
