package faulty

import (
	"context"
	"os"
	"time"
)

// Action is what happens at a fault. An error is what the caller of the store gets.
type Action func(ctx context.Context) error

// Fail returns err.
func Fail(err error) Action {
	return func(context.Context) error { return err }
}

// Delay waits for d, or until the context of the call is done, which is then the error.
func Delay(d time.Duration) Action {
	return func(ctx context.Context) error {
		wait := time.NewTimer(d)
		defer wait.Stop()
		select {
		case <-wait.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Block waits until released is closed, or until the context of the call is done,
// which is then the error. It closes nothing.
func Block(released <-chan struct{}) Action {
	return func(ctx context.Context) error {
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Do calls f: to signal that a call is there, or to change something behind its back.
func Do(f func()) Action {
	return func(context.Context) error {
		f()
		return nil
	}
}

// Kill ends the process at once, as SIGKILL does: no deferred call runs. It does
// not return.
func Kill() Action {
	return func(context.Context) error {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill() //nolint:errcheck // there is nobody left to tell
		}
		select {} // until the signal is there
	}
}
