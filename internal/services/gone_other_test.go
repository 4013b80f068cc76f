//go:build !linux

package services

import (
	"os"
	"syscall"
	"testing"
)

func NeedsDeathSignal(tb testing.TB) {
	tb.Skip("only Linux ends a child when its parent is killed")
}

// Gone asks by signal 0, which reaches a running process only.
func Gone(pid int) bool {
	process, err := os.FindProcess(pid)
	return err != nil || process.Signal(syscall.Signal(0)) != nil
}
