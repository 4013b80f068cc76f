package temporalcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/effectonce/effectonce/internal/process"
)

const (
	// Version is the release that Build builds; it carries server 1.29.1.
	Version = "v1.5.1"

	module = "github.com/temporalio/cli/cmd/temporal@" + Version

	reportEvery = 5 * time.Second
)

// Build compiles the program into the user's cache folder and returns its path.
// It needs the Go toolchain, and takes some minutes the first time and some
// seconds when Go's build cache is warm. What it does is told to progress, one
// line every few seconds; nil tells nobody. Several builds at once are safe: the
// finished program is moved into place in one step.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	return build(ctx, module, progress, reportEvery)
}

func build(ctx context.Context, module string, progress io.Writer, every time.Duration) (string, error) {
	if progress == nil {
		progress = io.Discard
	}
	target, err := cachePath()
	if err != nil {
		return "", err
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("build the Temporal CLI: the Go toolchain is needed: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	// Beside the target, so that it can be moved there in one step.
	work, err := os.MkdirTemp(filepath.Dir(target), ".build-")
	if err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()

	begun := time.Now()
	say := func(format string, a ...any) {
		_, _ = fmt.Fprintf(progress, "Temporal CLI %s: %s\n", Version, fmt.Sprintf(format, a...))
	}
	say("building it once into %s (some minutes the first time)", filepath.Dir(target))
	var counts counter
	child, err := process.Start(ctx, process.Command{
		Path: tool,
		Args: []string{"install", "-v", module},
		Dir:  work, // outside of any module
		// The user's flags are for the user's modules: -mod or -race would
		// break or slow this build.
		Env:    []string{"GOBIN=" + work, "GOFLAGS=", "GOWORK=off"},
		Output: &counts,
		// Go stops its compilers on an interrupt, and cleans up.
		StopSignal: syscall.SIGINT,
	})
	if err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	report(child, every, func() {
		say("%v, %s", time.Since(begun).Round(time.Second), counts.String())
	})
	if ctx.Err() != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", context.Cause(ctx))
	}
	if err := child.Wait(ctx); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	built := filepath.Join(work, filepath.Base(target))
	if err := moveInto(built, target); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	say("done in %v", time.Since(begun).Round(time.Second))
	return target, nil
}

func report(child *process.Child, every time.Duration, say func()) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			say()
		case <-child.Done():
			return
		}
	}
}

func moveInto(built, target string) error {
	if runtime.GOOS == "windows" {
		// Windows does not rename onto a program that exists.
		if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(built, target)
}

// counter counts what the Go toolchain says about its work: one line for each
// module it fetches and for each package it compiles.
type counter struct {
	mu                sync.Mutex
	partial           string
	modules, packages int
}

func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.partial+string(p), "\n")
	c.partial = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		switch {
		case strings.HasPrefix(line, "go: downloading"):
			c.modules++
		case !strings.Contains(line, " "):
			c.packages++
		}
	}
	return len(p), nil
}

func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d modules fetched, %d packages compiled", c.modules, c.packages)
}
