//go:build unix && !linux

package process

import "syscall"

func sysProcAttr(cmd Command) (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: credential(cmd.RunAs),
	}, nil
}
