package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The processes of the demo are found in /proc, so these tests are for Linux.

func TestDemoLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal syscall.Signal
		after  string // what the demo says before it gets the signal
		code   int
		args   []string
	}{
		"SIGINTWhileStarting":  {syscall.SIGINT, "starting", 1, nil},
		"SIGINTInTheMiddle":    {syscall.SIGINT, "row g-with done", 1, nil},
		"SIGTERMInTheMiddle":   {syscall.SIGTERM, "row d-with done", 1, []string{"--only=b,c,d"}},
		"SIGINTWhileKept":      {syscall.SIGINT, "until Ctrl-C", 0, []string{"--only=a", "--keep"}},
		"SIGKILLInTheMiddle":   {syscall.SIGKILL, "row g-with done", -1, nil},
		"SIGKILLWhileStarting": {syscall.SIGKILL, "starting", -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, folder := startDemo(t, test.args...)
			said := func() bool { return strings.Contains(p.err.String()+p.out.String(), test.after) }
			require.Eventually(t, said, time.Minute, 5*time.Millisecond, "it did not say %q: %s", test.after, &p.err)
			family := descendants(t, p.Process.Pid)
			if test.after != "starting" {
				require.GreaterOrEqual(t, len(family), 4, "Temporal, the provider and two workers run")
			}
			if test.code == 0 {
				address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(p.out.String())
				response, err := http.Get(address)
				require.NoError(t, err, "the UI is gone")
				require.NoError(t, response.Body.Close())
			}

			require.NoError(t, p.Process.Signal(test.signal))
			assert.Equal(t, test.code, p.end(t, 20*time.Second), "exit code; %s", &p.err)
			gone := func() bool {
				family = append(family, descendants(t, p.Process.Pid)...)
				for _, pid := range family {
					if alive(pid) {
						return false
					}
				}
				return len(users(t, folder)) == 0
			}
			assert.Eventually(t, gone, 10*time.Second, 50*time.Millisecond, "processes are left: %v", users(t, folder))
			if test.signal != syscall.SIGKILL { // after that nobody can clean up
				assertEmpty(t, folder)
			}
		})
	}
}

// stat returns the state of a process and its parent; ok is false if there is no such process.
func stat(pid int) (state byte, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err == nil
}

// alive reports whether a process runs. Where process 1 does not wait for orphans, they stay zombies
// for ever.
func alive(pid int) bool {
	state, _, ok := stat(pid)
	return ok && state != 'Z' && state != 'X'
}

func processes(t *testing.T) (pids []int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, path := range paths {
		if pid, err := strconv.Atoi(filepath.Base(path)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns the processes below one.
func descendants(t *testing.T, ancestor int) (found []int) {
	t.Helper()
	parents := map[int]int{}
	for _, pid := range processes(t) {
		if _, parent, ok := stat(pid); ok {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == ancestor {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// users returns the living processes with the folder in their command line or environment: all
// processes of a demo that has it as TMPDIR, whoever their parent is by now.
func users(t *testing.T, folder string) (found []int) {
	t.Helper()
	for _, pid := range processes(t) {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(environ, []byte("TMPDIR="+folder)) && alive(pid) {
			found = append(found, pid)
		}
	}
	return found
}
