package canon_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

// golden reads a table of tab-separated fields. Lines that start with # are
// comments.
func golden(t *testing.T, file string, fields int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != fields {
			t.Fatalf("%s: %d fields instead of %d: %q", file, len(row), fields, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// The canonical bytes of texts, written by hand: they are a promise.
func TestText(t *testing.T) {
	t.Parallel()
	for _, row := range golden(t, "text.tsv", 3) {
		name, in, want := row[0], row[1], row[2]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := canon.Text([]byte("before "), []byte(in))
			if err != nil || string(got) != "before "+want {
				t.Errorf("Text(%s)\n got %s, %v\nwant %s", in, got, err, want)
			}
			again, err := canon.Text(nil, []byte(want))
			if err != nil || string(again) != want {
				t.Errorf("not idempotent: Text(%s) = %s, %v", want, again, err)
			}
		})
	}
}

// RFC 8785 3.2.2 has a number that a double rounds, so it needs the option.
func TestTextRFC8785Sample(t *testing.T) {
	t.Parallel()
	in := `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	want := `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
		`"string":"€$\u000f\nA'B\"\\\\\"/"}`
	got, err := canon.Text(nil, []byte(in), canon.RFC8785Floats())
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// RFC 8785 3.2.3: by UTF-16 code units, where an astral character comes before
// U+FB33.
func TestTextRFC8785Sorting(t *testing.T) {
	t.Parallel()
	in := `{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}`
	want := "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\"," +
		"\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\"," +
		"\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"
	got, err := canon.Text(nil, []byte(in))
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// RFC 8785 3.2.4 publishes the bytes of the sample above.
func TestTextRFC8785Bytes(t *testing.T) {
	t.Parallel()
	want, err := hex.DecodeString(strings.Join(strings.Fields(`
		7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
		75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
		5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
		65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
		5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
		30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`), ""))
	if err != nil {
		t.Fatal(err)
	}
	got, err := canon.Text(nil, []byte(`{"numbers":[333333333.3333333,1E30,4.50,2e-3,1e-27],`+
		`"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got  %x, %v\nwant %x", got, err, want)
	}
}

func TestTextControlCharacters(t *testing.T) {
	t.Parallel()
	short := map[byte]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	for c := range byte(0x20) {
		escape := `\u00` + hex.EncodeToString([]byte{c})
		want := escape
		if s, ok := short[c]; ok {
			want = s
		}
		for _, in := range []string{escape, strings.ToUpper(escape[2:])} {
			in = `"\u` + in[len(in)-4:] + `"`
			got, err := canon.Text(nil, []byte(in))
			if err != nil || string(got) != `"`+want+`"` {
				t.Errorf("Text(%s) = %s, %v; want %q", in, got, err, want)
			}
		}
	}
}

func TestTextKeepsItsInput(t *testing.T) {
	t.Parallel()
	in := []byte(`{"b": [1.50, "\u0041"], "a": {}}`)
	before := bytes.Clone(in)
	if _, err := canon.Text(nil, in); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(in, before) {
		t.Errorf("the input became %s", in)
	}
}

func TestTextReturnsDstOnError(t *testing.T) {
	t.Parallel()
	got, err := canon.Text([]byte("before"), []byte(`[1,`))
	if err == nil || string(got) != "before" {
		t.Errorf("got %q, %v", got, err)
	}
}
