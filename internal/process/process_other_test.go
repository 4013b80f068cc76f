//go:build unix && !linux

package process_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, 10*time.Second, 10*time.Millisecond,
		"process %d still runs", pid)
}
