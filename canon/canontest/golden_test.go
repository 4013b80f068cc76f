package canontest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/canon/canontest"
	"github.com/effectonce/effectonce/key"
)

var _ canontest.TB = (testing.TB)(nil)

// recorder is a test that remembers how it failed.
type recorder struct {
	name   string
	failed []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Name() string              { return r.name }
func (r *recorder) Errorf(f string, a ...any) { r.failed = append(r.failed, fmt.Sprintf(f, a...)) }
func (r *recorder) Fatalf(f string, a ...any) {
	r.failed = append(r.failed, "fatal: "+fmt.Sprintf(f, a...))
}
func golden(path string, x ...canontest.Example) string {
	r := &recorder{name: "TestKeys/sub"}
	canontest.Golden(r, path, x...)
	return strings.Join(r.failed, "\n---\n")
}

type line struct {
	SKU  string `json:"sku"`
	Note string `json:"note" effectonce:"check"`
}

func example(name, operation string, args ...any) canontest.Example {
	return canontest.Example{Name: name, Operation: operation, Args: args}
}

// written returns the path of a file that was written for some examples.
func written(t *testing.T, x ...canontest.Example) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "keys.tsv")
	t.Setenv(canontest.UpdateVariable, "1")
	if got := golden(path, x...); got != "" {
		t.Fatal(got)
	}
	t.Setenv(canontest.UpdateVariable, "0")
	return path
}

func TestGoldenAgrees(t *testing.T) {
	examples := []canontest.Example{
		example("call", "Refund", map[string]any{"id": int64(1746030112345678901), "tab": "\t\n"}, line{"a", "b"}),
		example("nothing", "Ping"),
		{Name: "fields", Operation: "Mail", Args: []any{map[string]any{"to": "x", "text": "y"}}, Fields: canon.Fields{Identity: []string{"/0/to"}, Check: []string{"/0/text"}}},
	}
	path := written(t, examples...)
	if got := golden(path, examples...); got != "" {
		t.Error(got)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	crlf := filepath.Join(t.TempDir(), "crlf.tsv")
	if err := os.WriteFile(crlf, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := golden(crlf, examples...); got != "" {
		t.Errorf("with the line ends of another system: %s", got)
	}
	if err := os.WriteFile(crlf, []byte("# x\na\tb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := golden(crlf); !strings.HasSuffix(got, "crlf.tsv:2: 2 fields instead of 5") {
		t.Errorf("got %s", got)
	}
}

// The file holds real keys.
func TestGoldenKeyIsThatOfPackageKey(t *testing.T) {
	path := written(t, example("call", "Refünd \"x\"", line{"a", "b"}, 1.5))
	want, err := key.Identity{Namespace: "default", ScopeKind: "namespace", Operation: "Refünd \"x\"", Input: []byte(`[{"sku":"a"},1.5]`)}.Key()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if row := "call\tRefünd \"x\"\t" + want.String() + "\t[{\"sku\":\"a\"},1.5]\t[{\"note\":\"b\",\"sku\":\"a\"},1.5]\n"; !strings.HasSuffix(string(text), row) {
		t.Errorf("got %s, want at its end %s", text, row)
	}
}

func TestGoldenSaysWhatDiffers(t *testing.T) {
	path := written(t, example("call", "Refund", map[string]any{"id": 1, "lines": []any{line{"a", ""}}, "a/b": nil}, "x"))
	tests := []struct {
		name    string
		example canontest.Example
		want    []string // all of them
		not     string
	}{
		{
			"value and name", example("call", "Refund", map[string]any{"ID": 1, "lines": []any{line{"b", ""}, nil}, "a/b": "c"}, "x"),
			[]string{
				`example "call": the key changed`, "\nwas eo1_", "\nis  eo1_",
				"\tidentity /0/ID: was absent, is 1\n\tidentity /0/a~1b: was null, is \"c\"\n\tidentity /0/id: was 1, is absent\n",
				"\tidentity /0/lines/0/sku: was \"a\", is \"b\"\n\tidentity /0/lines/1: was absent, is null\n",
				"is done again when", "json tag", "EFFECTONCE_UPDATE_GOLDEN=1 go test -run '^TestKeys$' .",
			}, "fingerprint changed",
		},
		{
			"kind", example("call", "Refund", map[string]any{"id": []any{}, "lines": map[string]any{"0": line{"a", ""}}, "a/b": nil}, "x"),
			[]string{"/0/id: was 1, is []\n", "/0/lines: was [{\"sku\":\"a\"}], is {\"0\":{\"sku\":\"a\"}}\n"}, "/0/lines/0",
		},
		{
			"operation", example("call", "Refunds", map[string]any{"id": 1, "lines": []any{line{"a", ""}}, "a/b": nil}, "x"),
			[]string{"the key changed", "\toperation: was \"Refund\", is \"Refunds\"\n", "the old Operation"}, "identity /",
		},
		{
			"fewer arguments", example("call", "Refund", map[string]any{"id": 1, "lines": []any{line{"a", ""}}, "a/b": nil}),
			[]string{"the key changed", "\tidentity /1: was \"x\", is absent\n"}, "identity /0",
		},
		{
			"checked", canontest.Example{Name: "call", Operation: "Refund", Args: []any{map[string]any{"id": 1, "lines": []any{line{"a", ""}}, "a/b": nil, "new": true}, "x"}, Fields: canon.Fields{Check: []string{"/0/new"}}},
			[]string{`example "call": the fingerprint changed`, "\tchecked /0/new: was absent, is true\n", "the key is the same", "refused"}, "is done again",
		},
		{
			"another name", example("called", "Refund", 1),
			[]string{`example "called" is new`, `example "call" is in the file, but not in the test`}, "changed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := golden(path, tt.example)
			for _, want := range tt.want {
				if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
					t.Errorf("no %q in:\n%s", want, got)
				}
			}
			if strings.Contains(got, tt.not) {
				t.Errorf("%q in:\n%s", tt.not, got)
			}
		})
	}
}

type unstable struct{ calls *int }

func (u unstable) MarshalJSON() ([]byte, error) {
	*u.calls++
	return fmt.Appendf(nil, "%d", *u.calls), nil
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

func TestGoldenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		examples []canontest.Example
		want     string
	}{
		{"no file", nil, "there is no"},
		{"no name", []canontest.Example{example("", "Refund")}, "a name and an operation"},
		{"no operation", []canontest.Example{example("call", "")}, "a name and an operation"},
		{"tab", []canontest.Example{example("call", "a\tb")}, "tab"},
		{"comment", []canontest.Example{example("#call", "a")}, "begin with #"},
		{"same name", []canontest.Example{example("call", "a"), example("call", "b")}, "two examples named call"},
		{"unstable", []canontest.Example{example("call", "a", unstable{new(int)})}, canon.ErrUnstable.Error()},
		{"no form", []canontest.Example{example("call", "a", failing{})}, "example call has no key"},
		{"invalid operation", []canontest.Example{example("call", "\xff")}, "example call has no key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keys.tsv")
			got := golden(path, tt.examples...)
			if !strings.HasPrefix(got, "fatal: canontest: ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file was written")
			}
		})
	}
}

func TestGoldenCannotWrite(t *testing.T) {
	t.Setenv(canontest.UpdateVariable, "1")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "keys.tsv"), filepath.Dir(file)} {
		if got := golden(path); !strings.HasPrefix(got, "fatal: ") {
			t.Errorf("%s: got %q", path, got)
		}
	}
}
