package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository writes a repository of two modules with tests, one that only pins tools
// and one that is a program without tests.
func repository(t *testing.T, tests string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                      "module example.com/root\n\ngo 1.26.0\n",
		"root_test.go":                "package root\n\nimport \"testing\"\n\n" + tests,
		"sub/go.mod":                  "module example.com/sub\n\ngo 1.26.0\n",
		"sub/sub_test.go":             "package sub\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) { t.Log(\"quiet\") }\n",
		"tools/go.mod":                "module example.com/tools\n\ngo 1.26.0\n",
		"program/go.mod":              "module example.com/program\n\ngo 1.26.0\n",
		"program/main.go":             "package main\n\nfunc main() {}\n",
		"testdata/fixture/go.mod":     "module example.com/broken\n\ngo 1.26.0\n",
		"testdata/fixture/x_test.go":  "this is no Go",
		".hidden/module/go.mod":       "module example.com/hidden\n\ngo 1.26.0\n",
		".hidden/module/main_test.go": "nor is this",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func testrun(t *testing.T, tests string, flags ...string) (string, error) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	var out strings.Builder
	args := append([]string{"-root", repository(t, tests)}, flags...)
	if !slices.Contains(args, "--") {
		args = append(args, "--")
	}
	err := run(context.Background(), append(args, "-count=1", "./..."), &out)
	return out.String(), err
}

func TestRun(t *testing.T) {
	t.Run("EveryModuleIsTested", func(t *testing.T) {
		out, err := testrun(t, "func TestRoot(t *testing.T) {}")
		require.NoError(t, err, out)
		assert.Regexp(t, `(?m)^ok  \texample.com/root\t`, out)
		assert.Regexp(t, `(?m)^ok  \texample.com/sub\t`, out)
		assert.Contains(t, out, "\n2 passed, 0 failed, 0 skipped\n")
		assert.NotContains(t, out, "quiet", "passed tests say nothing")
		assert.NotContains(t, out, "tools")
		assert.NotContains(t, out, "program")
		assert.NotContains(t, out, "fixture")
		assert.NotContains(t, out, "hidden")
	})

	t.Run("AFailureIsShownAndDoesNotHideLaterModules", func(t *testing.T) {
		out, err := testrun(t, "func TestRoot(t *testing.T) { t.Run(\"case\", func(t *testing.T) { t.Error(\"got 2, want 1\") }) }")
		require.ErrorContains(t, err, "go test failed")
		assert.Contains(t, out, "--- FAIL: TestRoot/case")
		assert.Contains(t, out, "got 2, want 1")
		assert.Regexp(t, `(?m)^FAIL\texample.com/root\t`, out)
		assert.Regexp(t, `(?m)^ok  \texample.com/sub\t`, out)
		assert.Contains(t, out, "\n1 passed, 2 failed, 0 skipped\n")
	})

	const skip = "func TestRoot(t *testing.T) { t.Skip(\"no database\") }"

	t.Run("ASkipIsListed", func(t *testing.T) {
		out, err := testrun(t, skip)
		require.NoError(t, err, out)
		assert.Regexp(t, `(?m)^skipped: example.com/root TestRoot: root_test.go:\d+: no database$`, out)
		assert.Contains(t, out, "\n1 passed, 0 failed, 1 skipped\n")
	})

	t.Run("ASkipFailsWhereAsked", func(t *testing.T) {
		out, err := testrun(t, skip, "-skips=fail")
		require.EqualError(t, err, "1 skipped tests count as failures here")
		assert.Contains(t, out, "no database")
	})

	t.Run("APanicIsShown", func(t *testing.T) {
		out, err := testrun(t, "func TestRoot(t *testing.T) { panic(\"out of cheese\") }")
		require.Error(t, err)
		assert.Contains(t, out, "panic: out of cheese")
	})

	t.Run("AnEndWithoutAWordIsShown", func(t *testing.T) {
		out, err := testrun(t, "func TestRoot(t *testing.T) { t.Log(\"last words\"); die() }\n\nfunc die() { println(\"dying\"); var p *int; go func() { *p = 1 }(); select {} }")
		require.Error(t, err)
		assert.Contains(t, out, "dying")
		assert.Contains(t, out, "nil pointer dereference")
	})

	t.Run("ABuildErrorIsShown", func(t *testing.T) {
		out, err := testrun(t, "func TestRoot(t *testing.T) { undefined() }")
		require.Error(t, err)
		assert.Contains(t, out, "undefined: undefined")
		assert.Contains(t, out, "[build failed]")
	})

	t.Run("NoTestAtAllIsAFailure", func(t *testing.T) {
		_, err := testrun(t, "func TestRoot(t *testing.T) {}", "--", "-run=NothingIsCalledThis")
		assert.EqualError(t, err, "no test ran")
	})

	t.Run("AnEndedContextIsAFailure", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.Error(t, run(ctx, []string{"-root", repository(t, ""), "./..."}, &strings.Builder{}))
	})
}
