// Command testrun runs "go test" in every module of the repository.
//
//	testrun [-skips=fail] -- [arguments of go test …]
//
// It prints what "go test" prints, with the output of failed tests only, and
// ends with the skipped tests and their reasons. Its exit code is 0 if there
// was no failure, if at least one test ran, and, with -skips=fail, if no test
// was skipped: a test that silently stopped running must not look green.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/effectonce/effectonce/internal/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	skips := flags.String("skips", "list", "what a skipped test is: list, or fail")
	root := flags.String("root", ".", "the repository's `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains([]string{"list", "fail"}, *skips) {
		return fmt.Errorf("-skips must be list or fail, got %q", *skips)
	}
	modules, err := modules(*root)
	if err != nil {
		return err
	}
	var total tally
	var failed []error
	for _, module := range modules {
		has, err := hasTests(ctx, module)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if !has {
			continue
		}
		begun := time.Now()
		_, _ = fmt.Fprintf(out, "--- module %s\n", module)
		if err := testModule(ctx, module, flags.Args(), out, &total); err != nil {
			failed = append(failed, fmt.Errorf("module %s: %w", module, err))
		}
		_, _ = fmt.Fprintf(out, "--- module %s took %v\n", module, time.Since(begun).Round(time.Second))
	}
	total.print(out)
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if total.passed+total.failed == 0 {
		return errors.New("no test ran")
	}
	if *skips == "fail" && len(total.skipped) > 0 {
		return fmt.Errorf("%d skipped tests count as failures here", len(total.skipped))
	}
	return nil
}

// modules returns the folders with a go.mod below root, root first.
func modules(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no go.mod below %s", root)
	}
	return found, err
}

// hasTests is false for a module that only pins tools, and for one that holds a
// program for other modules' tests: "go test" would build it with the race detector,
// for nothing.
func hasTests(ctx context.Context, module string) (bool, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{range .TestGoFiles}}{{.}}{{end}}{{range .XTestGoFiles}}{{.}}{{end}}", "./...")
	cmd.Dir = module
	cmd.Stderr = io.Discard // "matched no packages"; errors come again from go test
	list, err := cmd.Output()
	if err != nil && ctx.Err() == nil {
		return true, nil
	}
	return len(bytes.TrimSpace(list)) > 0, err
}

func testModule(ctx context.Context, module string, args []string, out io.Writer, total *tally) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	events := newReader(out, total)
	child, err := process.Start(ctx, process.Command{
		Path:   tool,
		Args:   append([]string{"test", "-json"}, args...),
		Dir:    module,
		Output: events,
		// go test passes an interrupt on to the tests it runs.
		StopSignal: syscall.SIGINT,
	})
	if err != nil {
		return err
	}
	<-child.Done()
	events.finish()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if child.Wait(ctx) != nil {
		return errors.New("go test failed")
	}
	return nil
}
