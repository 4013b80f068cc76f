//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

func sysProcAttr(cmd Command) (*syscall.SysProcAttr, error) {
	if cmd.RunAs != nil {
		return nil, errors.New("RunAs is not supported on this system")
	}
	return nil, nil
}

func killGroup(p *os.Process) { _ = p.Kill() }
