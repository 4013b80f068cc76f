package canon

import (
	"encoding/json"
	"math/big"
	"testing"
	"time"
)

type base struct {
	ID   int64 `json:"id,string"`
	Note string
}
type quick struct {
	base
	B    *bool
	T    time.Time
	M    map[int]any
	F    float64 `json:"f"`
	N    *quick
	L    []string `json:"l,omitempty"`
	Big  *big.Int
	Raw  json.RawMessage
	D    time.Duration
	Arr  [2]byte
	Byt  []byte
	priv int
}

func TestQuick(t *testing.T) {
	f := false
	for _, v := range []any{quick{}, quick{base: base{ID: 5, Note: "x"}, B: &f, M: map[int]any{2: nil, 10: "a"}, L: []string{}, N: &quick{}, T: time.Now(), Big: big.NewInt(5), Raw: json.RawMessage(`{"b":1, "a":2}`), D: 1, Byt: []byte("hi")}, struct{ time.Time }{}, make(chan int), 1e300, "\xff", map[string]any{"a": []any{1, 2.5, "é\u2028<"}, "x": struct{}{}}} {
		b, err := Value(nil, v, Verify())
		t.Log(string(b), err)
	}
}
