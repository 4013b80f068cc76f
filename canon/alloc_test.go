//go:build !race

package canon_test

import (
	"encoding/json"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

// With a buffer that is large enough, neither text nor what decoders make of it
// costs an allocation. The race detector allocates: not with it.
func TestAllocations(t *testing.T) {
	text := []byte(`{"to": "bob \u0041", "\u0062": [1.50, 1e2, 0.30000000000000004, 1746030112345678901], "o": {"z": null, "y": true}}`)
	var floats any
	if err := json.Unmarshal([]byte(`{"a":[1,2.5,"x",null,true,{"z":{},"b":"\n"}]}`), &floats); err != nil {
		t.Fatal(err)
	}
	numbers, err := canon.Decode[any](text)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{
		"text":      json.RawMessage(text),
		"floats":    floats,
		"numbers":   numbers,
		"strings":   map[string]string{"b": "x", "a": "y"},
		"list":      []string{"b", "a"},
		"struct":    &payment{"x", 1},
		"composite": &paymentGrown{To: "x", Map: map[string]int{}, Any: "y", Slice: []string{"z"}},
	}
	buf := make([]byte, 0, 1024)
	for name, v := range values {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := canon.Value(buf, v); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("Value of %s: %v allocations", name, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := canon.Text(buf, text, canon.MaxSize(1000)); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Text: %v allocations", n)
	}
}
