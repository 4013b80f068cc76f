package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/effectonce/effectonce/canon"
)

var seeds = []string{
	`null`, ` [ 1 , 2.50 , -0 , 1e21 , 1E-7 ] `, `{"b":1,"a":{"d":[],"c":{}}}`,
	`{"\ud83d\ude00":1,"\uffff":2,"\u0000":3,"\"":4}`, `"\u0041\/\n\u000A\u001f"`,
	`9007199254740993`, `1746030112345678901`, `0.30000000000000004`, `5e-324`, `1.7976931348623157e308`,
	`1.7976931348623158e308`, `1e400`, `2e-324`, `1000000000000000000000000000001`, `{"a":1,"\u0061":2}`,
	`0.10000000000000000001`, `[[[[[[[[]]]]]]]]`, `{"z":"x","y":[{"b":null,"a":true}],"x":123456789012345.6}`,
	"\"\xff\"", `"\ud800"`, `"\ud83d\u0041"`, `0e99999999999`, `[1 2]`, `[tr ue]`, `01`, `+1`, `.5`, `1.`, `0x1p4`,
	"\ufeff1", `{"a":1,}`, `1 2`, "\"a\nb\"", `{"\ue000":1,"\ud800\udc00":2}`, `"\b\f\n\r\t\u0008\u000c"`,
	`[-1.5e-9, 1.1e1, 333333333.33333329, 4.35, 0.000001, 0.0000001]`, `{"":{"":{"":0}}}`,
}

// FuzzPeers compares canon, told to round as RFC 8785 does, with the peers.
func FuzzPeers(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(compare)
}

func compare(t *testing.T, in []byte) {
	got, err := canon.Text(nil, in, canon.RFC8785Floats())
	if errors.Is(err, canon.ErrDepth) || errors.Is(err, canon.ErrSize) {
		return // limits that the peers have not, or have elsewhere
	}
	webpki, errWebpki := jcs.Transform(in)
	text := jsontext.Value(bytes.Clone(in))
	errText := text.Canonicalize()

	if (err == nil) != (errWebpki == nil) {
		t.Fatalf("%q: canon says %v, gowebpki %v", in, err, errWebpki)
	}
	// jsontext writes what is above the largest double as the largest double.
	if (err == nil) != (errText == nil) && !errors.Is(err, canon.ErrRange) {
		t.Fatalf("%q: canon says %v, jsontext %v", in, err, errText)
	}
	if err != nil {
		return
	}
	if safe(t, in) {
		same(t, in, got, webpki)
		same(t, in, got, text)
		return
	}
	// canon keeps the digits of integers that the peers round: let them do it.
	rounded, err := jcs.Transform(got)
	if err != nil {
		t.Fatalf("%q: gowebpki refuses %q: %v", in, got, err)
	}
	same(t, in, rounded, webpki)
	same(t, in, rounded, text)
}

func same(t *testing.T, in, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%q\ncanon %q\npeer  %q", in, got, want)
	}
}

// safe reports whether a double holds every integer of the text.
func safe(t *testing.T, text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if token == nil && err != nil {
			return true
		}
		n, ok := token.(json.Number)
		if !ok || strings.ContainsAny(string(n), ".eE") {
			continue
		}
		i, ok := new(big.Int).SetString(string(n), 10)
		if !ok {
			t.Fatalf("%q is no integer", n)
		}
		if i.BitLen() > 53 {
			return false
		}
	}
}

// Where canon must differ from the peers: what makes two actions one.
func TestSaferThanPeers(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{`1746030112345678901`, `1746030112345678902`},
		{`9007199254740992`, `9007199254740993`},
		{`9007199254740992`, `9007199254740993.0`},
		{`0`, `1e-400`},
		{`0.1`, `0.10000000000000000001`},
		{`123456789012345.671`, `123456789012345.672`},
	} {
		a, errA := jcs.Transform([]byte(pair[0]))
		b, errB := jcs.Transform([]byte(pair[1]))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("gowebpki tells %s and %s apart by now", pair[0], pair[1])
		}
		a, errA = canon.Text(nil, []byte(pair[0]))
		b, errB = canon.Text(nil, []byte(pair[1]))
		if errA == nil && errB == nil && bytes.Equal(a, b) {
			t.Errorf("canon makes %s and %s one", pair[0], pair[1])
		}
	}
}
