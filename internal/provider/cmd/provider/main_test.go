package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/provider"
)

// TestMain lets the test binary be the program, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("PROVIDER_TEST_RUN_MAIN") == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program starts the program and returns it with a client of the address it printed.
func program(t *testing.T, args ...string) (*exec.Cmd, *provider.Client) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PROVIDER_TEST_RUN_MAIN=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd, provider.NewClient(strings.TrimSpace(address))
}

var refund = provider.RefundRequest{OrderID: 1234567890123456789, AmountCents: 500}

func TestEffectsSurviveKill9(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "effects.jsonl")
	call := provider.Call{Case: "a", Key: "k"}

	first, c := program(t, "-journal", journal)
	receipt, err := c.Refund(t.Context(), call, refund)
	require.NoError(t, err)
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())

	_, c = program(t, "-journal", journal)
	answer, err := c.AskKey(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, provider.Answer{Applied: true, Receipt: receipt}, answer)
}

func TestSIGTERMWaitsForTheRequestUnderWay(t *testing.T) {
	t.Parallel()
	cmd, c := program(t)
	require.NoError(t, c.SetFaults(t.Context(), provider.Behaviour{Faults: []provider.Fault{{After: time.Second}}}))
	answered := make(chan error, 1)
	go func() {
		_, err := c.Refund(t.Context(), provider.Call{Case: "a"}, refund)
		answered <- err
	}()
	require.Eventually(t, func() bool {
		s, err := c.Stats(t.Context(), "a")
		return err == nil && s.Effects == 1
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-answered)
	require.NoError(t, cmd.Wait())
}

func TestBadFlagsAndJournalsAreErrors(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	assert.Error(t, run(t.Context(), []string{"-listen", "nowhere"}, &out))
	assert.Error(t, run(t.Context(), []string{"-journal", filepath.Join(t.TempDir(), "no", "such", "folder")}, &out))
	assert.Empty(t, out.String(), "no address of a server that does not run")
}
