package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/storeurl"
)

func TestMain(m *testing.M) {
	testscript.Main(withServices{m}, map[string]func(){"effectonce": main})
}

type withServices struct{ *testing.M }

func (w withServices) Run() int {
	defer services.Shutdown()
	return w.M.Run()
}

// The scripts run the program over each kind of store that several processes can open.

func TestOnSQLite(t *testing.T) {
	t.Parallel()
	scripts(t, func(e *testscript.Env) string { return "sqlite:" + filepath.Join(e.WorkDir, "records.db") })
}

func TestOnPostgres(t *testing.T) {
	t.Parallel()
	url := services.Postgres(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	scripts(t, func(e *testscript.Env) string { return url + separator + "schema=" + filepath.Base(e.WorkDir) })
}

func scripts(t *testing.T, url func(*testscript.Env) string) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(storeVariable, url(e))
			e.Setenv("NOBODYS", "eo1_"+strings.Repeat("0", 64))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"seed": seedScript, "exits": exits},
	})
}

// seedScript fills the script's store and sets a variable to the key of each record.
func seedScript(ts *testscript.TestScript, _ bool, _ []string) {
	ctx := context.Background()
	opened, err := storeurl.Open(ctx, ts.Getenv(storeVariable), storeurl.Options{})
	ts.Check(err)
	keys, err := seed(ctx, opened.Store)
	ts.Check(errors.Join(err, opened.Close()))
	for name, k := range keys {
		ts.Setenv(name, k)
	}
}

// exits runs a command and checks its exit code: exits CODE COMMAND ARGS…
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
