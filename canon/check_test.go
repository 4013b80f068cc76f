package canon_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

type checkedTool struct {
	Order      string   `json:"order"`
	Price      float64  `json:"price"`
	Old        *float32 `json:"old"`
	internal   int      //nolint:unused // reported
	Cache      string   `json:"-"`
	Own        marshaler
	At         time.Time
	Rest       any
	ToolCallID string `json:"tool_call_id"`
	TraceID    string `json:"trace_id" effectonce:"ignore"`
	Lines      []checkedLine
	ByName     map[string]checkedLine
	Next       *checkedTool
}

type checkedLine struct {
	Nonce string
	note  string //nolint:unused // reported
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		typ  reflect.Type
		want []string
	}{
		{nil, nil},
		{reflect.TypeFor[payment](), nil},
		{reflect.TypeFor[float64](), []string{": float"}},
		{reflect.TypeFor[checkedTool](), []string{
			".ByName[*].Nonce: volatile", ".ByName[*].note: unexported", ".Cache: hidden", ".Old: float", ".Own: trusted",
			".Price: float", ".Rest: dynamic", ".ToolCallID: volatile", ".internal: unexported"}},
		{reflect.TypeFor[hidden](), []string{": refused"}},
		{reflect.TypeFor[both](), []string{": refused"}},
		{reflect.TypeFor[struct {
			A chan int
			B map[string]struct{ F func() }
			C float64
		}](), []string{".A: refused", ".B[*].F: refused", ".C: float"}},
		{reflect.TypeFor[Deep](), nil},
		{reflect.TypeFor[tree](), nil},
		{reflect.TypeFor[*message](), []string{": refused"}},
	}
	for _, tt := range tests {
		var got []string
		for _, f := range canon.Check(tt.typ) {
			got = append(got, f.Path+": "+f.Kind)
			if f.Detail == "" {
				t.Errorf("%v: no detail in %v", tt.typ, f)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Check(%v)\n got %q\nwant %q", tt.typ, got, tt.want)
		}
	}
}

func TestCheckVolatileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tool_call_id", "toolCallId", "uuid", "UUID", "timestamp", "nonce", "trace_id", "trace-id", "requestId"} {
		typ := reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(`json:"` + name + `"`)}})
		got := canon.Check(typ)
		if len(got) != 1 || got[0].Kind != canon.FindingVolatile || got[0].Path != ".F" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
