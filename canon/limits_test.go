package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/canon"
)

func TestMaxDepth(t *testing.T) {
	t.Parallel()
	lists := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	objects := func(n int) []byte { return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)) }
	value := func(n int) (v any) {
		for range n {
			v = map[string]any{"a": []any{v}}
		}
		return v
	}
	for _, in := range [][]byte{lists(1000), objects(1000)} {
		if got, err := canon.Text(nil, in); err != nil || !bytes.Equal(got, in) {
			t.Errorf("depth 1,000: %v", err)
		}
	}
	for _, in := range [][]byte{lists(1001), objects(1001), lists(100_000), bytes.Repeat([]byte("["), 5_000_000)} {
		got, err := canon.Text(nil, in)
		checkRefused(t, got, err, canon.ErrDepth)
	}
	if _, err := canon.Value(nil, value(500)); err != nil {
		t.Errorf("depth 1,000: %v", err)
	}
	got, err := canon.Value(nil, []any{value(500)})
	checkRefused(t, got, err, canon.ErrDepth)

	// What a marshaler returns counts on top of what is around it.
	if _, err := canon.Value(nil, []any{marshaler(lists(999))}); err != nil {
		t.Errorf("depth 1,000: %v", err)
	}
	got, err = canon.Value(nil, []any{marshaler(lists(1000))})
	checkRefused(t, got, err, canon.ErrDepth)

	// So does the list of arguments.
	if _, err := (canon.Fields{}).Split([]any{json.RawMessage(lists(999))}); err != nil {
		t.Errorf("depth 1,000: %v", err)
	}
	_, err = canon.Fields{}.Split([]any{json.RawMessage(lists(1000))})
	checkRefused(t, nil, err, canon.ErrDepth)

	got, err = canon.Text(nil, lists(4), canon.MaxDepth(3))
	checkRefused(t, got, err, canon.ErrDepth)
	if _, err = canon.Text(nil, lists(1001), canon.MaxDepth(2000)); err != nil {
		t.Errorf("MaxDepth(2000): %v", err)
	}
	for _, n := range []int{0, -1, 10_001} {
		if _, err = canon.Text(nil, lists(1000), canon.MaxDepth(n)); err != nil {
			t.Errorf("MaxDepth(%d): %v", n, err)
		}
		got, err = canon.Text(nil, lists(1001), canon.MaxDepth(n))
		checkRefused(t, got, err, canon.ErrDepth)
	}
}

func TestMaxSize(t *testing.T) {
	t.Parallel()
	quoted := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	if _, err := canon.Text(nil, quoted(16<<20)); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	got, err := canon.Text(nil, quoted(16<<20+1))
	checkRefused(t, got, err, canon.ErrSize)

	got, err = canon.Text(nil, quoted(11), canon.MaxSize(10))
	checkRefused(t, got, err, canon.ErrSize)
	got, err = canon.Value(nil, strings.Repeat("x", 9), canon.MaxSize(10))
	checkRefused(t, got, err, canon.ErrSize)
	got, err = canon.Value(nil, marshaler(`1           `), canon.MaxSize(10))
	checkRefused(t, got, err, canon.ErrSize)
	for _, o := range [][]canon.Option{{canon.MaxSize(10)}, {canon.MaxSize(10), canon.Verify()}} {
		// What is in dst already does not count.
		if _, err = canon.Value(bytesOf('x', 100), strings.Repeat("x", 8), o...); err != nil {
			t.Errorf("MaxSize(10): %v", err)
		}
	}
	// Output may be longer than input.
	got, err = canon.Text(nil, []byte(`[1e20,1e20]`), canon.MaxSize(20))
	checkRefused(t, got, err, canon.ErrSize)
	if _, err = canon.Text(nil, quoted(17<<20), canon.MaxSize(32<<20)); err != nil {
		t.Errorf("MaxSize(32 MiB): %v", err)
	}
}

// Wide and deep inputs must not cost more than sorting does. The bounds are wide:
// a quadratic step takes minutes.
func TestCostGrowsGently(t *testing.T) {
	t.Parallel()
	wide := func(name func(i int) int) []byte {
		var b bytes.Buffer
		for i := range 50_000 {
			sep := ','
			if i == 0 {
				sep = '{'
			}
			fmt.Fprintf(&b, `%c"member%06d":%d`, sep, name(i), i)
		}
		b.WriteByte('}')
		return b.Bytes()
	}
	deep := []byte(strings.Repeat(`{"b":1,"a":`, 500) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("}", 500))
	tests := map[string][]byte{
		"ascending":  wide(func(i int) int { return i }),
		"descending": wide(func(i int) int { return 99_999 - i }),
		"shuffled":   wide(func(i int) int { return i * 7919 % 50_000 }),
		"deep":       deep,
	}
	for name, in := range tests {
		start := time.Now()
		got, err := canon.Text(nil, in)
		if err != nil || len(got) != len(in) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	in := wide(func(i int) int { return i % 49_999 })
	if _, err := canon.Text(nil, in); !errors.Is(err, canon.ErrDuplicate) {
		t.Errorf("one equal name among 50,000: %v", err)
	}
}
