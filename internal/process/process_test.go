//go:build unix

package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/process"
)

func shell(script string) process.Command {
	return process.Command{Path: "/bin/sh", Args: []string{"-c", script}}
}

func start(t *testing.T, cmd process.Command) *process.Child {
	t.Helper()
	child, err := process.Start(context.Background(), cmd)
	require.NoError(t, err)
	t.Cleanup(child.Kill)
	return child
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// saying returns a command whose output is searched for words by the probe.
func saying(script, words string) (process.Command, func(context.Context) error) {
	var out output
	cmd := shell(script)
	cmd.Output = &out
	return cmd, func(context.Context) error {
		if !strings.Contains(out.String(), words) {
			return fmt.Errorf("it has not said %q", words)
		}
		return nil
	}
}

type output struct {
	mu   sync.Mutex
	text strings.Builder
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

func TestWait(t *testing.T) {
	t.Parallel()

	t.Run("ExitCodeZero", func(t *testing.T) {
		t.Parallel()
		assert.NoError(t, start(t, shell("exit 0")).Wait(bounded(t)))
	})

	t.Run("FailureCarriesTheLastLines", func(t *testing.T) {
		t.Parallel()
		err := start(t, shell("echo first; echo no space left on device >&2; exit 3")).Wait(bounded(t))
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, 3, exit.ExitCode())
		assert.Contains(t, err.Error(), "last output of sh:\nfirst\nno space left on device")
	})

	t.Run("GivesUpWithItsContext", func(t *testing.T) {
		t.Parallel()
		child := start(t, shell("exec sleep 100"))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.ErrorIs(t, child.Wait(ctx), context.Canceled)
	})

	t.Run("OutputHeldOpenByAGrandchildDoesNotHang", func(t *testing.T) {
		t.Parallel()
		assert.NoError(t, start(t, shell("sleep 100 & exit 0")).Wait(bounded(t)))
	})
}

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("MissingProgramIsNamed", func(t *testing.T) {
		t.Parallel()
		_, err := process.Start(context.Background(), process.Command{Path: "/no/such/program", Name: "database"})
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, "start database:")
	})

	t.Run("EndedContextStartsNothing", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := process.Start(ctx, shell("exit 0"))
		assert.ErrorIs(t, err, context.Canceled)
	})

	t.Run("EndOfContextStopsTheChild", func(t *testing.T) {
		t.Parallel()
		cmd, ready := saying(`trap "echo asked; exit 7" TERM; echo ready; while :; do sleep 0.05; done`, "ready")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		child, err := process.Start(ctx, cmd)
		require.NoError(t, err)
		t.Cleanup(child.Kill)
		require.NoError(t, child.Until(bounded(t), ready))
		cancel()
		require.NoError(t, child.Wait(bounded(t)), "an end that was asked for is no failure")
		assert.Contains(t, child.Tail(), "asked", "it must be asked before it is killed")
	})
}

func TestStop(t *testing.T) {
	t.Parallel()

	t.Run("KillsTheGroupAfterGrace", func(t *testing.T) {
		t.Parallel()
		cmd, ready := saying(`trap "" TERM; sleep 100 & echo child $!; while :; do sleep 0.05; done`, "child ")
		cmd.Grace = 100 * time.Millisecond
		child := start(t, cmd)
		require.NoError(t, child.Until(bounded(t), ready))
		var grandchild int
		_, err := fmt.Sscanf(child.Tail(), "child %d", &grandchild)
		require.NoError(t, err)

		require.NoError(t, child.Stop())
		eventuallyGone(t, child.PID())
		eventuallyGone(t, grandchild)
	})

	t.Run("FailureBeforeStopIsReported", func(t *testing.T) {
		t.Parallel()
		child := start(t, shell("echo broken; exit 1"))
		<-child.Done()
		require.ErrorContains(t, child.Stop(), "broken")
		require.ErrorContains(t, child.Stop(), "broken", "the second time too")
	})

	t.Run("FromManyGoroutines", func(t *testing.T) {
		t.Parallel()
		child := start(t, shell("exec sleep 100"))
		var stops sync.WaitGroup
		for range 20 {
			stops.Go(func() { assert.NoError(t, child.Stop()) })
		}
		stops.Wait()
	})
}

func TestKillGivesNoWarning(t *testing.T) {
	t.Parallel()
	cmd, ready := saying(`trap "echo asked" TERM; echo ready; while :; do sleep 0.05; done`, "ready")
	child := start(t, cmd)
	require.NoError(t, child.Until(bounded(t), ready))
	child.Kill()
	assert.NotContains(t, child.Tail(), "asked")
	assert.NoError(t, child.Wait(bounded(t)), "an end that was asked for is no failure")
}

func TestUntil(t *testing.T) {
	t.Parallel()
	notYet := errors.New("connection refused")
	never := func(context.Context) error { return notYet }

	t.Run("EndedChildIsReportedWithItsLastLines", func(t *testing.T) {
		t.Parallel()
		err := start(t, shell("echo address already in use; exit 1")).Until(bounded(t), never)
		require.ErrorContains(t, err, "sh ended before it was ready: exit status 1")
		require.ErrorContains(t, err, "address already in use")
		require.ErrorIs(t, err, notYet)
	})

	t.Run("EndOfContextIsReportedWithTheLastProbe", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		err := start(t, shell("exec sleep 100")).Until(ctx, never)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, notYet)
	})
}

func TestTailKeepsWholeLastLines(t *testing.T) {
	t.Parallel()
	child := start(t, shell(`i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done`))
	require.NoError(t, child.Wait(bounded(t)))
	tail := child.Tail()
	assert.Less(t, len(tail), 9<<10)
	assert.True(t, strings.HasPrefix(tail, "line "), "the first kept line is whole: %.20q", tail)
	assert.True(t, strings.HasSuffix(tail, "line 2999\n"))
}

func TestFreePortCanBeListenedOn(t *testing.T) {
	t.Parallel()
	port, err := process.FreePort()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

// TestMain lets the test binary play the parent that gets killed.
func TestMain(m *testing.M) {
	if os.Getenv("PROCESS_TEST_PARENT") != "" {
		parent()
		return
	}
	m.Run()
}

// parent starts a child, says its process id and waits to be killed.
func parent() {
	child, err := process.Start(context.Background(), shell("exec sleep 1000"))
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println(child.PID())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func startParent(t *testing.T) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROCESS_TEST_PARENT=1")
	hold, err := cmd.StdinPipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = hold.Close() })
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(line, &pid)
	require.NoError(t, err, "the parent said %q", line)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return cmd, pid
}
