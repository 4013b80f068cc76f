package canon_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

type fieldsOrder struct {
	ID    string            `json:"id"`
	Items []fieldsItem      `json:"items"`
	Pair  [2]int            `json:"pair"`
	Meta  map[string]string `json:"meta"`
	Lines map[int]int       `json:"lines"`
	Ship  *address          `json:"ship"`
	Any   any               `json:"any"`
	Raw   json.RawMessage   `json:"raw"`
	Own   marshaler         `json:"own"`
	At    time.Time         `json:"at"`
	Bytes []byte            `json:"bytes"`
	A     int               `json:"a.b"`
}

type fieldsItem struct {
	SKU  string `json:"sku"`
	Note string `json:"note"`
}

func TestFieldsValidate(t *testing.T) {
	t.Parallel()
	types := []reflect.Type{reflect.TypeFor[*fieldsOrder](), reflect.TypeFor[string](), nil}
	tests := []struct {
		name   string
		fields canon.Fields
		types  []reflect.Type
		want   []string // what the message says about each fault
	}{
		{"nothing", canon.Fields{}, types, nil},
		{"nothing known", canon.Fields{Ignore: []string{"/5/x"}}, nil, nil},
		{"whole arguments", canon.Fields{Check: []string{"/0"}, Ignore: []string{"/1"}}, types, nil},
		{"all that exists", canon.Fields{Ignore: []string{
			"/0/id", "/0/items/3/note", "/0/pair/1", "/0/meta/a b", "/0/lines/-7", "/0/ship/city",
			"/0/any/x/y", "/0/raw/x/0", "/0/own/x", "/0/at", "/0/bytes", "/0/a.b", "/2/whatever"}}, types, nil},
		{"escapes", canon.Fields{Ignore: []string{"/0/meta/a~1b", "/0/meta/a~0b"}}, types, nil},
		{"siblings", canon.Fields{Identity: []string{"/0/id"}, Check: []string{"/0/items"}}, types, nil},

		{"empty", canon.Fields{Ignore: []string{""}}, nil, []string{"not a pointer"}},
		{"no slash", canon.Fields{Ignore: []string{"0/note"}}, nil, []string{"not a pointer"}},
		{"no index", canon.Fields{Ignore: []string{"/note"}}, nil, []string{"not a pointer"}},
		{"bad index", canon.Fields{Ignore: []string{"/01", "/-1", "/", "/+1"}}, nil,
			[]string{"at /01", "at /-1", "at /", "at /+1"}},
		{"bad escape", canon.Fields{Ignore: []string{"/0/a~2", "/0/a~"}}, nil, []string{"at /0/a~2", "at /0/a~"}},
		{"equal in two lists", canon.Fields{Check: []string{"/0/id"}, Ignore: []string{"/0/id"}}, types, []string{"equal to"}},
		{"equal in one list", canon.Fields{Ignore: []string{"/0/id", "/0/id"}}, types, []string{"equal to"}},
		{"below another", canon.Fields{Check: []string{"/0"}, Ignore: []string{"/0/id"}}, types, []string{"at /0/id"}},
		{"above another", canon.Fields{Identity: []string{"/0/items/0/sku"}, Ignore: []string{"/0/items"}}, types, []string{"at /0/items"}},
		{"equal once unescaped", canon.Fields{Check: []string{"/0/meta/~01"}, Ignore: []string{"/0/meta/~01"}}, types, []string{"equal to"}},

		{"no such argument", canon.Fields{Ignore: []string{"/3"}}, types, []string{"only 3 arguments"}},
		{"no such member", canon.Fields{Ignore: []string{"/0/ID"}}, types, []string{"no such member"}},
		{"Go name instead of the tag", canon.Fields{Ignore: []string{"/0/ship/City"}}, types, []string{"no such member"}},
		{"below a string", canon.Fields{Ignore: []string{"/1/x"}}, types, []string{"string has no parts"}},
		{"below a time", canon.Fields{Ignore: []string{"/0/at/year"}}, types, []string{"time.Time has no parts"}},
		{"below bytes", canon.Fields{Ignore: []string{"/0/bytes/0"}}, types, []string{"[]uint8 has no parts"}},
		{"name in a list", canon.Fields{Ignore: []string{"/0/items/note"}}, types, []string{"no such element"}},
		{"end of a list", canon.Fields{Ignore: []string{"/0/items/-"}}, types, []string{"no such element"}},
		{"outside an array", canon.Fields{Ignore: []string{"/0/pair/2"}}, types, []string{"no such element"}},
		{"no integer key", canon.Fields{Ignore: []string{"/0/lines/x", "/0/lines/01"}}, types, []string{"/0/lines/x", "/0/lines/01"}},
		{"refused type", canon.Fields{Ignore: []string{"/0/x"}}, []reflect.Type{reflect.TypeFor[chan int]()}, []string{"chan int"}},
		{"all at once", canon.Fields{Identity: []string{"x"}, Check: []string{"/0/x"}, Ignore: []string{"/1/x", "/9"}}, types,
			[]string{"at x", "at /0/x", "at /1/x", "at /9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.fields.Validate(tt.types)
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !errors.Is(err, canon.ErrRefused) ||
				!errors.Is(err, canon.ErrField) && !errors.Is(err, canon.ErrType) {
				t.Fatalf("got %v", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d faults instead of %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("got %q, want %q in it", lines[i], want)
				}
			}
			if tt.types == nil {
				if _, err := tt.fields.Split([]any{1}); !errors.Is(err, canon.ErrField) {
					t.Errorf("Split: %v", err)
				}
			}
		})
	}
}
