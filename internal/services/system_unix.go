//go:build unix

package services

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/effectonce/effectonce/internal/process"
)

// postgresUser is who runs PostgreSQL, which refuses to run as root: the user
// that its package made if we are root, else ourselves.
func postgresUser() (*process.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no other user for it: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &process.Credential{UID: uint32(uid), GID: uint32(gid)}, nil
}

// lockFile makes a locked file. It gets its name once it is locked, so that
// nobody finds it unlocked before.
func lockFile(path string) (_ *os.File, err error) {
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return nil, err
	}
	return file, nil
}

// abandoned says whether nobody holds the lock.
func abandoned(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
