package canon_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// model reads JSON text with another parser, numbers as their own text.
func model(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", text, err)
	}
	return v
}

// equal compares two models, numbers by their exact decimal values.
func equal(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && exact(x).Cmp(exact(y)) == 0
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

func exact(n json.Number) *big.Rat {
	digits, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if !strings.ContainsAny(digits, "123456789") {
		return new(big.Rat) // whatever its exponent, which big.Rat would write out
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("not a number")
	}
	return r
}
