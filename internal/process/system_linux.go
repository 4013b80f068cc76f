package process

import "syscall"

func sysProcAttr(cmd Command) (*syscall.SysProcAttr, error) {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Pdeathsig:  cmd.DeathSignal,
		Credential: credential(cmd.RunAs),
	}, nil
}
