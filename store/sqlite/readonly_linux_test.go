package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/effectonce/effectonce/store/sqlite"
)

// asNobody runs f on a thread that may do nothing that a file's mode forbids: tests
// often run as root, who may do everything.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			const nobody = 65534
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0); errno != 0 {
				t.Errorf("setfsuid: %v", errno)
			}
		}
		f()
	}()
	<-over
}

func TestReadOnlyFileSaysSo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "records.db")
	open(t, path).Close() //nolint:errcheck // a test
	for _, f := range []string{path, folder, filepath.Dir(folder)} {
		if err := os.Chmod(f, map[bool]os.FileMode{true: 0o444, false: 0o555}[f == path]); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(folder, 0o700); os.Chmod(filepath.Dir(folder), 0o700) }) //nolint:errcheck // a test
	asNobody(t, func() {
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("got error %v, want %v", err, sqlite.ErrReadOnly)
		}
		if _, err := sqlite.Open(t.Context(), filepath.Join(folder, "new.db"), sqlite.Options{}); !errors.Is(err, sqlite.ErrPath) {
			t.Errorf("a new file in that folder: got error %v, want %v", err, sqlite.ErrPath)
		}
	})
}
