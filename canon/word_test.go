package canon

import (
	"strings"
	"testing"
)

// Every byte at every place of strings up to three words, behind and before what
// might be taken for a part of it.
func TestWords(t *testing.T) {
	t.Parallel()
	plain := func(c byte) bool { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	end := func(s string, from int, is func(byte) bool) int {
		for from < len(s) && is(s[from]) {
			from++
		}
		return from
	}
	for length := range 25 {
		for at := range length {
			for c := range 256 {
				for _, rest := range []string{"7", "\xff", "!"} {
					text := strings.Repeat("5", at) + string([]byte{byte(c)}) + strings.Repeat(rest, length-at-1)
					if got, want := isPlain([]byte(text)), end(text, 0, plain) == length; got != want {
						t.Fatalf("isPlain(%q) = %v", text, got)
					}
					for _, from := range []int{0, at, length} {
						if got, want := plainEnd([]byte(text), from), end(text, from, plain); got != want {
							t.Fatalf("plainEnd(%q, %d) = %d, want %d", text, from, got, want)
						}
						if got, want := digitsEnd([]byte(text), from), end(text, from, digit); got != want {
							t.Fatalf("digitsEnd(%q, %d) = %d, want %d", text, from, got, want)
						}
					}
				}
			}
		}
	}
	if !isPlain(nil) {
		t.Error("the empty string is plain")
	}
}

// What was written is not kept alive by the buffers for the next value.
func TestEncoderForgets(t *testing.T) {
	t.Parallel()
	e := newEncoder(newOptions(nil), 0)
	for _, v := range []any{
		map[string]any{"a": map[string]any{"b": 1}, "c": 2}, map[string]string{"a": "b"}, map[int]string{1: "c"}, map[string]string{},
	} {
		if _, err := e.any(nil, v); err != nil {
			t.Fatal(err)
		}
	}
	e.anys.clear()
	e.strings.clear()
	e.values.clear()
	for _, entry := range e.anys.list[:cap(e.anys.list)] {
		if entry.key != "" || entry.value != nil {
			t.Errorf("kept %v", entry)
		}
	}
	for _, entry := range e.strings.list[:cap(e.strings.list)] {
		if entry.key != "" || entry.value != "" {
			t.Errorf("kept %v", entry)
		}
	}
	for _, entry := range e.values.list[:cap(e.values.list)] {
		if entry.key != "" || entry.value.IsValid() {
			t.Errorf("kept %v", entry)
		}
	}
}
