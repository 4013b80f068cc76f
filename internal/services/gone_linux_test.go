package services

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
)

func NeedsDeathSignal(testing.TB) {}

// Gone reads the process's state. Signal 0 would say that a zombie is alive,
// and where process 1 does not wait for orphans they stay zombies for ever.
func Gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	end := bytes.LastIndexByte(stat, ')')
	return end >= 0 && len(stat) > end+2 && (stat[end+2] == 'Z' || stat[end+2] == 'X')
}
