package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	defaultGrace = 5 * time.Second

	// pipeDelay bounds how long a child counts as running after it ended while
	// something it started still holds its output open.
	pipeDelay = 2 * time.Second

	pollInterval = 25 * time.Millisecond
)

// Command says what to run. Only Path is needed.
type Command struct {
	// Path is the program. It is not searched on PATH.
	Path string

	// Args are the arguments, without the program's name.
	Args []string

	// Name is what errors call the program. Default: the last part of Path.
	Name string

	// Dir is the working directory. Default: this process's.
	Dir string

	// Env is added to this process's environment; later entries win.
	Env []string

	// RunAs is the user the program runs as. Default: this process's. Only
	// root may set it, and only on Unix.
	RunAs *Credential

	// Output gets everything the program writes to standard output and
	// standard error. Default: only the tail for errors is kept.
	Output io.Writer

	// StopSignal asks the program to end. Default SIGTERM.
	StopSignal syscall.Signal

	// DeathSignal is what the kernel sends when this process dies (Linux only).
	// Default SIGKILL.
	DeathSignal syscall.Signal

	// Grace is how long a program may take to end after StopSignal before its
	// whole group is killed. Default 5s.
	Grace time.Duration
}

// Credential names a user by number.
type Credential struct {
	UID, GID uint32
}

// Child is a running program, or one that has ended.
type Child struct {
	cmd      Command
	process  *os.Process
	tail     *tail
	stopping chan struct{} // closed by the first Stop, or when ctx ends
	stopOnce func()
	killed   atomic.Bool   // Kill was called
	done     chan struct{} // closed when the program was waited for
	err      error         // readable after done
	asked    bool          // readable after done: it ended because we asked
}

// Start runs cmd and returns once the program was started, not once it is
// ready: see [Child.Until]. When ctx ends the program is stopped, as by
// [Child.Stop].
func Start(ctx context.Context, cmd Command) (*Child, error) {
	cmd.setDefaults()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Name, context.Cause(ctx))
	}
	c := &Child{
		cmd:      cmd,
		tail:     &tail{next: cmd.Output},
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
	}
	c.stopOnce = sync.OnceFunc(func() { close(c.stopping) })

	attributes, err := sysProcAttr(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Name, err)
	}
	run := exec.Command(cmd.Path, cmd.Args...)
	run.Dir = cmd.Dir
	run.Env = append(os.Environ(), cmd.Env...)
	run.Stdout, run.Stderr = c.tail, c.tail // one writer: exec makes one pipe
	run.SysProcAttr = attributes
	run.WaitDelay = pipeDelay

	started := make(chan error)
	go c.run(run, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Name, err)
	}
	go c.stopWhenAsked(ctx)
	return c, nil
}

// run starts the program and waits for it on one operating system thread. The
// kernel ties a child's death signal to the thread that created it, so that
// thread has to live as long as the child.
func (c *Child) run(run *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := run.Start()
	c.process = run.Process
	started <- err
	if err != nil {
		return
	}
	err = run.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; only its output was held open
	}
	select {
	case <-c.stopping:
		c.asked = true
	default:
		c.asked = c.killed.Load()
	}
	c.err = err
	close(c.done)
}

// stopWhenAsked ends the program when Stop is called or ctx ends. It is the
// only place that ends a program, so that grace is counted once.
func (c *Child) stopWhenAsked(ctx context.Context) {
	select {
	case <-c.done:
		return
	case <-ctx.Done():
		c.stopOnce()
	case <-c.stopping:
	}
	_ = c.process.Signal(c.cmd.StopSignal) // an error means that it has ended
	grace := time.NewTimer(c.cmd.Grace)
	defer grace.Stop()
	select {
	case <-c.done:
	case <-grace.C:
		killGroup(c.process)
		<-c.done
	}
}

// PID is the program's process id.
func (c *Child) PID() int { return c.process.Pid }

// Done is closed when the program has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Tail returns the last lines that the program wrote.
func (c *Child) Tail() string { return c.tail.String() }

// Stop asks the program to end, kills its whole group when it has not done so
// within Grace, and returns once it has ended. The error is nil whatever the
// exit code, because an end was asked for; a program that had ended by itself
// with a failure returns that failure.
func (c *Child) Stop() error {
	c.stopOnce()
	<-c.done
	return c.failure()
}

// Kill ends the program and its group as kill -9 would, with no signal before
// that they could act on, and returns once the program is gone.
func (c *Child) Kill() {
	c.killed.Store(true)
	killGroup(c.process)
	<-c.done
}

// Signal sends s to the program. It is an error if the program has ended.
func (c *Child) Signal(s os.Signal) error {
	if err := c.process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", c.cmd.Name, err)
	}
	return nil
}

// Wait returns when the program has ended or ctx has. The error is nil if the
// program ended with exit code 0 or because it was asked to.
func (c *Child) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.failure()
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", c.cmd.Name, context.Cause(ctx))
	}
}

// Until calls probe again and again until it returns nil. It gives up when the
// program ends or ctx does; the error then carries the last probe's error and
// the program's last lines.
func (c *Child) Until(ctx context.Context, probe func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		last := probe(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-c.done:
			return fmt.Errorf("%s ended before it was ready: %w", c.cmd.Name, errors.Join(c.ended(), c.withTail(last)))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", c.cmd.Name, errors.Join(context.Cause(ctx), c.withTail(last)))
		}
	}
}

// ended is why the program is gone, for a caller that needed it.
func (c *Child) ended() error {
	if c.err != nil {
		return c.err
	}
	return errors.New("exit status 0")
}

// failure is the error of a program that ended without being asked to.
func (c *Child) failure() error {
	if c.err == nil || c.asked {
		return nil
	}
	return fmt.Errorf("%s: %w", c.cmd.Name, c.withTail(c.err))
}

func (c *Child) withTail(err error) error {
	lines := strings.TrimSpace(c.Tail())
	if lines == "" {
		return err
	}
	return fmt.Errorf("%w\nlast output of %s:\n%s", err, c.cmd.Name, lines)
}

func (c *Command) setDefaults() {
	if c.Name == "" {
		c.Name = filepath.Base(c.Path)
	}
	if c.StopSignal == 0 {
		c.StopSignal = syscall.SIGTERM
	}
	if c.DeathSignal == 0 {
		c.DeathSignal = syscall.SIGKILL
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
}
