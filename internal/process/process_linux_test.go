package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChildDiesWhenItsParentIsKilled(t *testing.T) {
	t.Parallel()
	cmd, pid := startParent(t)
	require.False(t, gone(t, pid), "the child must run before its parent is killed")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventuallyGone(t, pid)
}

func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	assert.Eventually(t, func() bool { return gone(t, pid) }, 10*time.Second, 10*time.Millisecond,
		"process %d still runs", pid)
}

// gone reads the process's state. Signal 0 would say that a zombie is alive,
// and where process 1 does not wait for orphans they stay zombies for ever.
func gone(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return false // ESRCH: it ended while the file was read; asked again
	}
	// "pid (name) state …": the name may hold anything, even parentheses.
	end := bytes.LastIndexByte(stat, ')')
	return end >= 0 && len(stat) > end+2 && (stat[end+2] == 'Z' || stat[end+2] == 'X')
}
