package canon_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"reflect"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/effectonce/effectonce/canon"
)

type message struct{ Amount int }

func (*message) ProtoReflect() any { return nil }

type hidden struct{ amount int } //nolint:unused // that is the point

type hiddenToo struct {
	Amount int `json:"-"`
}

type (
	left  struct{ ID int }
	right struct{ ID int }
	both  struct {
		left
		right
	}
	embedsPointer struct{ *left }
	embedsTime    struct {
		time.Time
		Amount int
	}
	stringOption struct {
		Name string `json:",string"`
	}
	stringList struct {
		IDs []int `json:",string"`
	}
	badTag struct {
		Note string `effectonce:"ignored"`
	}
	ownAndTime struct {
		time.Time
		marshaler //nolint:unused // what it promotes is the point
	}
	embedsTwoOwned struct {
		ownStruct    `json:"a"`
		ownStructToo `json:"b"`
	}
	ownStruct    struct{ N int }
	ownStructToo struct{ N int }
	mutual       struct {
		Other *mutualToo
	}
	mutualToo struct {
		Back *mutual
		Bad  chan int
	}
)

func (ownStruct) MarshalJSON() ([]byte, error)    { return []byte("1"), nil }
func (ownStructToo) MarshalJSON() ([]byte, error) { return []byte("2"), nil }

// twice would not pass go vet if it were declared.
var twice = reflect.StructOf([]reflect.StructField{
	{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"id"`},
	{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"id"`},
})

// These types are refused whatever the value.
func TestTypesRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   any
	}{
		{"chan", make(chan int)},
		{"func", func() {}},
		{"complex64", complex64(1)},
		{"complex128", 1i},
		{"unsafe.Pointer", unsafe.Pointer(nil)},
		{"nil chan in a struct", struct{ C chan int }{}},
		{"nil func behind a nil pointer", (*struct{ F func() })(nil)},
		{"chan in a nil slice", []chan int(nil)},
		{"chan in a nil map", map[string]chan int(nil)},
		{"chan in an empty array", [0]chan int{}},
		{"only unexported fields", hidden{1}},
		{"only hidden fields", hiddenToo{1}},
		{"error", errors.New("a")},
		{"error in an interface", []error{errors.New("a")}},
		{"joined errors", errors.Join(errors.New("a"), errors.New("b"))},
		{"fs.PathError holds a plain error", &fs.PathError{Op: "open", Path: "x", Err: errors.New("a")}},
		{"bytes.Buffer", bytes.NewBufferString("a")},
		{"atomic.Int64", new(atomic.Int64)},
		{"os.File", os.Stdin},
		{"url.URL", url.URL{Host: "example.com", User: url.User("alice")}},
		{"url.Userinfo", *url.User("alice")},
		{"big.Float", big.NewFloat(1)},
		{"big.Float value", *big.NewFloat(1)},
		{"protobuf message", &message{1}},
		{"protobuf message value", message{1}},
		{"nil protobuf message", (*message)(nil)},
		{"protobuf message in a field", struct{ M *message }{}},
		{"two embedded fields of one name", both{}},
		{"two tagged fields of one name", reflect.Zero(twice).Interface()},
		{"embedded pointer", embedsPointer{}},
		{"embedded time", embedsTime{}},
		{"embedded time beside another method", ownAndTime{}},
		{"two embedded that write themselves", embedsTwoOwned{}},
		{"string option on a string", stringOption{}},
		{"string option on a list", stringList{}},
		{"unknown effectonce tag", badTag{}},
		{"map with bool keys", map[bool]int{}},
		{"map with float keys", map[float64]int{}},
		{"map with array keys", map[[2]int]int{}},
		{"map with struct keys", map[left]int{}},
		{"map with interface keys", map[any]int{"2": 1, 2: 1}},
		{"map with MarshalText keys", map[textKey]int{"a": 1}},
		{"map with time keys", map[time.Time]int{}},
		{"mutual recursion, asked from the one", mutual{}},
		{"mutual recursion, asked from the other", mutualToo{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []any{tt.in, []any{tt.in}, struct{ F any }{tt.in}} {
				got, err := canon.Value(nil, in)
				checkRefused(t, got, err, canon.ErrType)
				var e *canon.TypeError
				if !errors.As(err, &e) || e.Why == "" {
					t.Errorf("not a *TypeError: %v", err)
				}
			}
		})
	}
}

// A refusal is cached, but its path belongs to each error.
func TestTypeErrorPath(t *testing.T) {
	t.Parallel()
	type inner struct{ Bad func() }
	type outer struct{ Inner []inner }
	for range 3 {
		_, err := canon.Value(nil, map[string]any{"x": outer{}})
		want := "canon: type func() has no canonical form: a func cannot be written as JSON, at [*].Inner[].Bad"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
