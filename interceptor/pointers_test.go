package interceptor

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce"
)

type ordered struct {
	Items []struct {
		Price int `json:"price"`
		Note  *struct {
			Text string `json:"a/b"`
		} `json:"note,omitempty"`
		Hidden string `json:"-"`
		secret int
	} `json:"items"`
	By map[string]shopper
	shopper
}

type shopper struct{ Name string }

func TestPointerFaults_SayWhereAndWhatThereIs(t *testing.T) {
	t.Parallel()
	types := []reflect.Type{nil, reflect.TypeFor[*ordered]()}
	for pointer, want := range map[string]string{
		"/1/item":            "Ignore: canon: invalid field path: interceptor.ordered has no such member, at /1/item; the Go type has By, Name, items",
		"/1/items/0/prize":   "at /1/items/0/prize; the Go type has note, price",
		"/1/items/0/note/a":  "the Go type has a/b",
		"/1/By/x/name":       "the Go type has Name",
		"/1/items/x":         "has no such element, at /1/items/x",
		"/1/items/0/price/0": "has no parts, at /1/items/0/price/0",
		"/2":                 "there are only 2 arguments, at /2",
		"items":              "Ignore: canon: ",
	} {
		p := Policy{Scope: effectonce.Run, Unknown: Hold(), Ignore: []string{pointer}}
		faults := p.pointerFaults(types)
		require.Len(t, faults, 1, pointer)
		require.ErrorContains(t, faults[0], want)
	}
	require.Empty(t, Policy{Ignore: []string{"/1/items/0/note/a~1b", "/1/By/x/Name", "/0/anything"}}.pointerFaults(types))
	require.Empty(t, Policy{Check: []string{"/0"}}.pointerFaults(nil))
}

func TestPointerFaults_OfTwoOptionsNameBoth(t *testing.T) {
	t.Parallel()
	faults := Policy{Check: []string{"/0"}, Ignore: []string{"/0", "0"}}.pointerFaults(nil)
	require.Len(t, faults, 2)
	text := faults[0].Error() + faults[1].Error()
	require.Contains(t, text, "Check and Ignore: ")
	require.Contains(t, text, "Ignore: ")
}
