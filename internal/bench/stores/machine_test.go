package stores

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// What Linux tells about processes, in ticks of 10 ms. On other systems there is
// nothing to read, and the figures are missing.
const tick = 10 * time.Millisecond

// spent is how long a process and its children, those that have ended included,
// have computed.
func spent(pid int) time.Duration {
	own := statOf(pid)
	if len(own) < 15 {
		return 0
	}
	ticks := own[11] + own[12] + own[13] + own[14]
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		id, _ := strconv.Atoi(filepath.Base(p))
		if stat := statOf(id); len(stat) > 12 && stat[1] == pid {
			ticks += stat[11] + stat[12]
		}
	}
	return time.Duration(ticks) * tick
}

// self is how long this process has computed, without its children.
func self() time.Duration {
	own := statOf(os.Getpid())
	if len(own) < 15 {
		return 0
	}
	return time.Duration(own[11]+own[12]) * tick
}

// statOf reads what /proc tells about a process, from its state on.
func statOf(pid int) (fields []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	for _, field := range strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) {
		n, _ := strconv.Atoi(field)
		fields = append(fields, n)
	}
	return fields
}

// busy is how long the processors of this machine have computed, for anybody. Time
// that other virtual machines took from this one counts too.
func busy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(text), "\n")
	ticks := 0
	for i, field := range strings.Fields(first) {
		switch n, _ := strconv.Atoi(field); i {
		case 1, 2, 3, 6, 7, 8: // user, nice, system, irq, softirq, steal
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// per is the part of d that fell to one of n, in microseconds; NaN if unknown.
func per(d time.Duration, n int) float64 {
	if d <= 0 {
		return math.NaN()
	}
	return d.Seconds() * 1e6 / float64(n)
}

func machine() string {
	model := runtime.GOARCH
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d processors (%s), %s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.Version())
}
