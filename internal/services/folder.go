package services

import (
	"os"
	"path/filepath"

	"github.com/effectonce/effectonce/internal/process"
)

// folder is a server's temporary folder. Its name is short, which a test's own
// (testing.T.TempDir) is not: the path of a Unix socket has at most 107 bytes.
type folder struct {
	path string
	// lock is held for as long as this process lives, so that the next test
	// binary can tell a folder in use from one whose owner was killed.
	lock *os.File
}

const (
	folderPrefix = "effectonce-"
	lockName     = "owner.lock"
)

func newFolder(kind string, user *process.Credential) (*folder, error) {
	removeAbandoned()
	path, err := os.MkdirTemp("", folderPrefix+kind+"-")
	if err != nil {
		return nil, err
	}
	f := &folder{path: path}
	f.lock, err = lockFile(filepath.Join(path, lockName))
	if err == nil {
		err = own(path, user)
	}
	if err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

func (f *folder) remove() {
	_ = os.RemoveAll(f.path)
	if f.lock != nil {
		_ = f.lock.Close()
	}
}

// removeAbandoned removes the folders of test binaries that were killed: they
// could not, and each holds some 40 MB.
func removeAbandoned() {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", lockName))
	for _, path := range paths {
		if !abandoned(path) {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

func own(path string, user *process.Credential) error {
	if user == nil {
		return nil
	}
	return os.Chown(path, int(user.UID), int(user.GID))
}
