package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
)

const runMain = "EFFECTONCE_WORKER_TEST_RUN_MAIN"

// TestMain lets the test binary be the program, also for the processes that the demo starts: signals
// and kills then reach the real thing.
func TestMain(m *testing.M) {
	if os.Getenv(runMain) == "1" {
		main()
		os.Exit(0)
	}
	services.Main(m)
}

// program is a running worker program.
type program struct {
	*exec.Cmd
	out, err output
}

// output collects what a program writes, for reading meanwhile.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts the program with nothing in its environment that this machine may have set up for a
// worker. Its temporary files go to a folder of the test.
func start(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(os.Args[0], args...)}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TEMPORAL_") && !strings.HasPrefix(kv, "EFFECTONCE_") {
			p.Env = append(p.Env, kv)
		}
	}
	none := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(none, nil, 0o600))
	p.Env = append(p.Env, runMain+"=1", "TEMPORAL_CONFIG_FILE="+none)
	p.Env = append(p.Env, env...)
	p.Stdout, p.Stderr = &p.out, &p.err
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// end waits for the end of the program and returns its exit code, -1 if a signal ended it.
func (p *program) end(t *testing.T, within time.Duration) int {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.ProcessState.ExitCode()
	case <-time.After(within):
		_ = p.Process.Signal(syscall.SIGQUIT) // its stacks tell what it waits for
		err := <-ended
		t.Fatalf("the program did not end within %s (%v):\n%s", within, err, p.err.String())
		return -1
	}
}
