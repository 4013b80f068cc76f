package temporalcli_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/temporalcli"
)

// The tests build a small program of their own in place of Temporal's, from a
// module proxy in a folder, with the real Go toolchain.
const small = "example.com/cli/cmd/temporal@v1.0.0"

func proxy(t *testing.T, source string) {
	t.Helper()
	root := t.TempDir()
	goCommand := func(args ...string) {
		out, err := exec.Command("go", args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	buildCache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(buildCache))) // it hangs on the cache folder's name
	if runtime.GOOS == "linux" {
		// Not HOME: the toolchain may still write its counters there when the
		// test is over.
		t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
	} else {
		t.Setenv("HOME", root)
	}
	t.Setenv("GOMODCACHE", filepath.Join(root, "modules"))
	t.Cleanup(func() { goCommand("clean", "-modcache") }) // its files are read-only
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(filepath.Join(root, "proxy")))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-mod=vendor -race") // must not get in the way

	versions := filepath.Join(root, "proxy", "example.com", "cli", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	mod := "module example.com/cli\n\ngo 1.26.0\n"
	for name, text := range map[string]string{
		"list": "v1.0.0\n", "v1.0.0.mod": mod, "v1.0.0.info": `{"Version":"v1.0.0"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644))
	}
	file, err := os.Create(filepath.Join(versions, "v1.0.0.zip"))
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	for name, text := range map[string]string{"go.mod": mod, "cmd/temporal/main.go": source} {
		entry, err := archive.Create("example.com/cli@v1.0.0/" + name)
		require.NoError(t, err)
		_, err = entry.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
}

func TestBuild(t *testing.T) {
	t.Run("IsFoundAfterwards", func(t *testing.T) {
		proxy(t, "package main\n\nfunc main() { println(`temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)`) }\n")
		var progress strings.Builder
		path, err := temporalcli.BuildModule(t.Context(), small, &progress, time.Millisecond)
		require.NoError(t, err)
		assert.Regexp(t, regexp.MustCompile(`(?m)^Temporal CLI v\d+\.\d+\.\d+: \d+s, \d+ modules fetched, \d+ packages compiled$`), progress.String())
		assert.Regexp(t, regexp.MustCompile(`done in \d+s\n$`), progress.String())
		assertOnly(t, path)

		t.Setenv(temporalcli.Env, "")
		t.Setenv("PATH", "")
		found, err := temporalcli.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, path, found)
	})

	t.Run("ReplacesAnOlderOne", func(t *testing.T) {
		proxy(t, "package main\n\nfunc main() {}\n")
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		old := program(t, filepath.Join(cache, "effectonce", "bin"), "old")
		before, err := os.Stat(old)
		require.NoError(t, err)
		path, err := temporalcli.BuildModule(t.Context(), small, nil, time.Second)
		require.NoError(t, err)
		assert.Equal(t, old, path)
		after, err := os.Stat(path)
		require.NoError(t, err)
		assert.False(t, os.SameFile(before, after))
	})

	t.Run("FailureCarriesTheCompilersWords", func(t *testing.T) {
		proxy(t, "package main\n\nfunc main() { undefinedFunction() }\n")
		_, err := temporalcli.BuildModule(t.Context(), small, nil, time.Second)
		require.ErrorContains(t, err, "undefined: undefinedFunction")
		cache, cacheErr := os.UserCacheDir()
		require.NoError(t, cacheErr)
		left, readErr := os.ReadDir(filepath.Join(cache, "effectonce", "bin"))
		require.NoError(t, readErr)
		assert.Empty(t, left, "nothing half done is left behind")
	})

	t.Run("EndsWithItsContext", func(t *testing.T) {
		proxy(t, "package main\n\nfunc main() {}\n")
		ctx, cancel := context.WithCancelCause(context.Background())
		stop := stopWriter(func(line string) {
			if strings.Contains(line, "packages compiled") {
				cancel(errors.New("interrupted by its user"))
			}
		})
		_, err := temporalcli.BuildModule(ctx, small, stop, time.Millisecond)
		assert.EqualError(t, err, "build the Temporal CLI: interrupted by its user")
	})

	t.Run("NeedsTheGoToolchain", func(t *testing.T) {
		machine(t)
		t.Setenv("PATH", t.TempDir())
		_, err := temporalcli.BuildModule(t.Context(), small, nil, time.Second)
		require.ErrorIs(t, err, exec.ErrNotFound)
		assert.ErrorContains(t, err, "the Go toolchain is needed")
	})
}

type stopWriter func(line string)

func (s stopWriter) Write(p []byte) (int, error) {
	s(string(p))
	return len(p), nil
}

func assertOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing but the program is left behind")
	assert.Equal(t, filepath.Base(path), entries[0].Name())
}
