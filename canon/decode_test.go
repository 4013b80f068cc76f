package canon_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

type decoded struct {
	Str     string           `json:"str"`
	Int     int64            `json:"int"`
	Uint    uint8            `json:"uint"`
	Float   float64          `json:"float"`
	Float32 float32          `json:"float32"`
	Bool    bool             `json:"bool"`
	Pointer *int             `json:"pointer"`
	Slice   []int            `json:"slice"`
	Array   [2]string        `json:"array"`
	Bytes   []byte           `json:"bytes"`
	Map     map[string]int   `json:"map"`
	IntMap  map[int]string   `json:"intMap"`
	Any     any              `json:"any"`
	Number  *json.Number     `json:"number"`
	Raw     json.RawMessage  `json:"raw"`
	Big     *big.Int         `json:"big"`
	Time    time.Time        `json:"time"`
	Wait    time.Duration    `json:"wait"`
	Addr    netip.Addr       `json:"addr"`
	ID      int64            `json:"id,string"`
	OptID   *int64           `json:"optID,string"`
	Flag    bool             `json:"flag,string"`
	Nested  *decoded         `json:"nested"`
	Structs []address        `json:"structs"`
	Named   map[named]named  `json:"named"`
	Lists   map[string][]int `json:"lists"`
	Base
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	v, err := canon.Decode[T]([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return v
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got := decode[decoded](t, `{
		"str": "a\u0041\ud83d\ude00", "int": 1746030112345678901, "uint": 2.55e2, "float": 1.50, "float32": 0.1, "bool": true,
		"pointer": 5, "slice": [1, 2 , 3], "array": ["x", "y"], "bytes": "aGk=", "map": {"a": 1, "b": 2}, "intMap": {"-1": "x"},
		"any": {"n": 1.0, "s": "x", "l": [null, true], "o": {}}, "number": 1e2, "raw": { "b": 1, "a": 2 }, "big": 1e21,
		"time": "2026-03-01T12:30:00+01:00", "wait": 5, "addr": "::1", "id": "1746030112345678902", "optID": "7", "flag": "true",
		"nested": {"str": "inner", "nested": null}, "structs": [{"street": "s"}, {}], "named": {"k": "v"}, "lists": {"x": [], "y": null},
		"Name": "n"}`)
	want := decoded{
		Str: "aA😀", Int: 1746030112345678901, Uint: 255, Float: 1.5, Float32: 0.1, Bool: true,
		Pointer: ptr(5), Slice: []int{1, 2, 3}, Array: [2]string{"x", "y"}, Bytes: []byte("hi"),
		Map: map[string]int{"a": 1, "b": 2}, IntMap: map[int]string{-1: "x"},
		Any:    map[string]any{"n": json.Number("1"), "s": "x", "l": []any{nil, true}, "o": map[string]any{}},
		Number: ptr(json.Number("100")), Raw: json.RawMessage(`{"a":2,"b":1}`),
		Big:  new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil),
		Wait: 5, Addr: netip.MustParseAddr("::1"), ID: 1746030112345678902, OptID: ptr(int64(7)), Flag: true,
		Nested: &decoded{Str: "inner"}, Structs: []address{{Street: "s"}, {}}, Named: map[named]named{"k": "v"},
		Lists: map[string][]int{"x": {}, "y": nil}, Base: Base{Name: "n"},
	}
	if at := time.Date(2026, 3, 1, 11, 30, 0, 0, time.UTC); !got.Time.Equal(at) {
		t.Errorf("time %v instead of %v", got.Time, at)
	}
	got.Time = time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeAny(t *testing.T) {
	t.Parallel()
	text := `{"id": 1746030112345678901, "list": [1.50, "x", null, {"b": true, "a": {}}]}`
	v := decode[any](t, text)
	got, err := canon.Value(nil, v)
	want, _ := canon.Text(nil, []byte(text))
	if err != nil || string(got) != string(want) {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestDecodeNull(t *testing.T) {
	t.Parallel()
	if got := decode[decoded](t, `{"str":null,"int":null,"pointer":null,"slice":null,"map":null,"any":null,"number":null,`+
		`"big":null,"time":null,"addr":null,"id":null,"optID":null,"array":null}`); !reflect.DeepEqual(got, decoded{}) {
		t.Errorf("got %+v", got)
	}
	if got := decode[*int](t, `null`); got != nil {
		t.Errorf("got %v", got)
	}
}

// The names differ only in case: encoding/json takes either for the other.
func TestDecodeNamesAreExact(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"To":"x"}`, `{"to":"x","amount":1,"AMOUNT":1000}`, `{"Amount":5}`, `{"extra":1}`} {
		got, err := canon.Decode[payment]([]byte(text))
		var e *canon.Error
		if !errors.Is(err, canon.ErrUnknownMember) || !errors.As(err, &e) || e.Offset < 1 {
			t.Errorf("Decode(%s) = %v, %v", text, got, err)
		}
		if got != (payment{}) {
			t.Errorf("got %v together with an error", got)
		}
	}
	for _, text := range []string{`{"Dash":1}`, `{"Hidden":1}`, `{"internal":"x"}`} {
		if _, err := canon.Decode[tags]([]byte(text)); !errors.Is(err, canon.ErrUnknownMember) {
			t.Errorf("Decode(%s): %v", text, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want error
		path string
	}{
		{`{"str":5}`, canon.ErrMismatch, ".Str"},
		{`{"int":"5"}`, canon.ErrMismatch, ".Int"},
		{`{"int":1.5}`, canon.ErrMismatch, ".Int"},
		{`{"int":9223372036854775808}`, canon.ErrRange, ".Int"},
		{`{"uint":256}`, canon.ErrRange, ".Uint"},
		{`{"uint":-1}`, canon.ErrRange, ".Uint"},
		{`{"float":"1"}`, canon.ErrMismatch, ".Float"},
		{`{"float":9007199254740993}`, canon.ErrUnsafeFloat, ".Float"},
		{`{"float":1e300}`, canon.ErrUnsafeFloat, ".Float"},
		{`{"float":0.10000000000000000001}`, canon.ErrLossy, ""},
		{`{"float32":0.123456789012}`, canon.ErrLossy, ".Float32"},
		{`{"float32":1e300}`, canon.ErrRange, ".Float32"},
		{`{"bool":1}`, canon.ErrMismatch, ".Bool"},
		{`{"bool":"true"}`, canon.ErrMismatch, ".Bool"},
		{`{"pointer":[]}`, canon.ErrMismatch, ".Pointer"},
		{`{"slice":{}}`, canon.ErrMismatch, ".Slice"},
		{`{"slice":[1,"x"]}`, canon.ErrMismatch, ".Slice[1]"},
		{`{"array":["x"]}`, canon.ErrMismatch, ".Array"},
		{`{"array":["x","y","z"]}`, canon.ErrMismatch, ".Array[2]"},
		{`{"bytes":"a"}`, canon.ErrMismatch, ".Bytes"},
		{`{"bytes":"aGl="}`, canon.ErrMismatch, ".Bytes"},
		{`{"bytes":"aG\nk="}`, canon.ErrMismatch, ".Bytes"},
		{`{"map":[]}`, canon.ErrMismatch, ".Map"},
		{`{"map":{"k":"x"}}`, canon.ErrMismatch, ".Map[*]"},
		{`{"intMap":{"01":"x"}}`, canon.ErrMismatch, ".IntMap[*]"},
		{`{"intMap":{"x":"x"}}`, canon.ErrMismatch, ".IntMap[*]"},
		{`{"number":"5"}`, canon.ErrMismatch, ".Number"},
		{`{"big":1.5}`, canon.ErrMismatch, ".Big"},
		{`{"time":"yesterday"}`, canon.ErrMismatch, ".Time"},
		{`{"time":5}`, canon.ErrMismatch, ".Time"},
		{`{"time":"9999-12-31T23:00:00-02:00"}`, canon.ErrRange, ".Time"},
		{`{"addr":"x"}`, canon.ErrMarshal, ".Addr"},
		{`{"id":5}`, canon.ErrMismatch, ".ID"},
		{`{"id":"x"}`, canon.ErrMismatch, ".ID"},
		{`{"id":"null"}`, canon.ErrMismatch, ".ID"},
		{`{"flag":"1"}`, canon.ErrMismatch, ".Flag"},
		{`{"nested":{"nested":{"x":1}}}`, canon.ErrUnknownMember, ".Nested.Nested"},
		{`{"str":"a","str":"b"}`, canon.ErrDuplicate, ""},
		{`{"str":"\ud800"}`, canon.ErrSurrogate, ""},
		{`[]`, canon.ErrMismatch, ""},
		{`"x"`, canon.ErrMismatch, ""},
		{`{} {}`, canon.ErrSyntax, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := canon.Decode[decoded]([]byte(tt.text))
			checkRefused(t, nil, err, tt.want)
			var e *canon.Error
			if !errors.As(err, &e) || e.Path != tt.path || e.Offset < 0 && tt.want != canon.ErrRange {
				t.Errorf("got %v, want %s", err, tt.path)
			}
		})
	}
}

func TestDecodeRefusesTypes(t *testing.T) {
	t.Parallel()
	if _, err := canon.Decode[chan int]([]byte(`null`)); !errors.Is(err, canon.ErrType) {
		t.Errorf("chan: %v", err)
	}
	if _, err := canon.Decode[json.Marshaler]([]byte(`1`)); !errors.Is(err, canon.ErrType) {
		t.Errorf("interface with methods: %v", err)
	}
	if _, err := canon.Decode[marshaler]([]byte(`"x"`)); !errors.Is(err, canon.ErrType) {
		t.Errorf("MarshalJSON without UnmarshalJSON: %v", err)
	}
	if _, err := canon.Decode[amount]([]byte(`"x"`)); !errors.Is(err, canon.ErrType) {
		t.Errorf("MarshalText without UnmarshalText: %v", err)
	}
}

// The text and the value give one key, for a text without zero members.
func TestDecodeAgreesWithText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"str":"x","int":5,"slice":[1],"structs":[{"street":"s"}]}`,
		`{"id":"5","flag":"true","float":0.1,"float32":0.1,"intMap":{"10":"a","9":"b"}}`,
		`{"raw":{"z":0,"a":[1.0]},"any":{"z":0,"a":[1.0]},"big":123456789012345678901234567890}`,
		`{"time":"2026-03-01T11:30:00Z","addr":"::1","bytes":"aGk="}`,
	} {
		want, err := canon.Text(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := canon.Value(nil, decode[decoded](t, text))
		if err != nil || string(got) != string(want) {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}
