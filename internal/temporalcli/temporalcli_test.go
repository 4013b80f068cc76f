package temporalcli_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/temporalcli"
)

func TestMain(m *testing.M) { services.Main(m) }

func TestDevServer(t *testing.T) {
	t.Parallel()
	path := services.TemporalCLI(t)

	t.Run("AnswersWithItsUI", func(t *testing.T) {
		t.Parallel()
		server, err := temporalcli.DevServer(t.Context(), temporalcli.Options{Path: path, UI: true})
		require.NoError(t, err)
		t.Cleanup(func() { _ = server.Stop() })

		temporal, err := client.Dial(client.Options{HostPort: server.Address()})
		require.NoError(t, err)
		temporal.Close()
		page, err := http.Get(server.UI())
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, page.StatusCode)
		require.NoError(t, page.Body.Close())

		require.NoError(t, server.Stop())
		select {
		case <-server.Done():
		default:
			t.Fatal("Stop returned before the server had ended")
		}
	})

	t.Run("EndOfContextStopsIt", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		server, err := temporalcli.DevServer(ctx, temporalcli.Options{Path: path})
		require.NoError(t, err)
		assert.Empty(t, server.UI())
		cancel()
		<-server.Done()
	})

	t.Run("BadArgumentIsReportedInTheProgramsWords", func(t *testing.T) {
		t.Parallel()
		_, err := temporalcli.DevServer(t.Context(), temporalcli.Options{Path: path, Args: []string{"--no-such-flag"}})
		assert.ErrorContains(t, err, "unknown flag: --no-such-flag")
	})
}

// program writes a shell script that answers as the Temporal CLI would.
func program(t *testing.T, dir, says string) string {
	t.Helper()
	path := filepath.Join(dir, "temporal")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755))
	return path
}

const usable = "temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)"

// machine stands for a machine whose PATH and cache folder are empty.
func machine(t *testing.T) (pathDir, cacheDir string) {
	t.Helper()
	root := t.TempDir()
	pathDir, home := filepath.Join(root, "path"), filepath.Join(root, "home")
	t.Setenv("PATH", pathDir+":/bin")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(temporalcli.Env, "")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	if _, err := os.Stat("/bin/temporal"); err == nil {
		t.Setenv("PATH", pathDir)
	}
	return pathDir, filepath.Join(cache, "effectonce", "bin")
}

func TestFind(t *testing.T) {
	t.Run("Nothing", func(t *testing.T) {
		machine(t)
		_, err := temporalcli.Find(t.Context())
		assert.ErrorIs(t, err, temporalcli.ErrNotFound)
	})

	t.Run("TheCache", func(t *testing.T) {
		_, cache := machine(t)
		want := program(t, cache, usable)
		got, err := temporalcli.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})

	t.Run("PathBeforeTheCache", func(t *testing.T) {
		path, cache := machine(t)
		program(t, cache, usable)
		want := program(t, path, usable)
		got, err := temporalcli.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})

	t.Run("TheCacheWhereTheOneOnPathIsTooOld", func(t *testing.T) {
		path, cache := machine(t)
		program(t, path, "temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)")
		want := program(t, cache, usable)
		got, err := temporalcli.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})

	t.Run("WhatWasTriedIsSaid", func(t *testing.T) {
		path, _ := machine(t)
		old := program(t, path, "temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)")
		_, err := temporalcli.Find(t.Context())
		require.ErrorIs(t, err, temporalcli.ErrNotFound)
		assert.ErrorContains(t, err, old+": its server 1.25.0 is older than 1.29.1")
	})

	t.Run("TheNamedOneBeforeAll", func(t *testing.T) {
		path, _ := machine(t)
		program(t, path, usable)
		want := program(t, t.TempDir(), usable)
		t.Setenv(temporalcli.Env, want)
		got, err := temporalcli.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})

	t.Run("TheNamedOneOrNone", func(t *testing.T) {
		path, _ := machine(t)
		program(t, path, usable)
		t.Setenv(temporalcli.Env, "/no/such/temporal")
		_, err := temporalcli.Find(t.Context())
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NotErrorIs(t, err, temporalcli.ErrNotFound)
		assert.ErrorContains(t, err, "TEMPORAL_CLI=/no/such/temporal")
	})
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		usable: "",
		"temporal version 1.7.0 (Server 1.32.1, UI 2.49.0)": "",
		"temporal version 9.0.0 (Server 2.0.0, UI 2.49.0)":  "",
		"temporal version 1.5.0 (Server 1.29.0, UI 2.0.0)":  "its server 1.29.0 is older than 1.29.1",
		"temporal version 1.5.0 (Server 0.99.9, UI 2.0.0)":  "its server 0.99.9 is older than 1.29.1",
		"tctl version 1.18.0":                               `its version "tctl version 1.18.0" names no server`,
		"":                                                  `its version "" names no server`,
		strings.Repeat("x", 500):                            `its version "` + strings.Repeat("x", 100) + `" names no server`,
	} {
		err := temporalcli.CheckVersion(text)
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}
