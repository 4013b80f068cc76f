package effectonce_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README promises only what is here: its code is an example's, and every test
// that it names exists.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, bytes.Count(readme, []byte("\n")), 150)

	example, err := os.ReadFile("example_worker_test.go")
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1) {
		require.Contains(t, string(example), string(block[1]), "code in the README is copied from an example")
	}

	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(readme, -1)
	require.NotEmpty(t, named)
	for _, m := range named {
		require.True(t, tests[string(m[1])], "the README names %s, which does not exist", m[1])
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(readme, -1) {
		_, err := os.Stat(string(m[1]))
		require.NoError(t, err, "a link of the README")
	}
}
