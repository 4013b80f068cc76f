//go:build unix

package process

import (
	"os"
	"syscall"
)

func credential(c *Credential) *syscall.Credential {
	if c == nil {
		return nil
	}
	return &syscall.Credential{Uid: c.UID, Gid: c.GID}
}

// killGroup kills the child and everything it started. The group has the
// child's process id, because the child leads it.
func killGroup(p *os.Process) {
	// Through the process handle first: it knows whether the child was waited
	// for already, and then the number may belong to somebody else.
	if p.Kill() == nil {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
}
