package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/effectonce/effectonce/internal/storeurl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c := &cli{
		in: os.Stdin, out: os.Stdout, errs: os.Stderr,
		url: os.Getenv(storeVariable), open: openExisting,
	}
	code := c.main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

const storeVariable = "EFFECTONCE_STORE"

// cli is one run of the program.
type cli struct {
	in        io.Reader
	out, errs io.Writer

	url     string // of the store; the flag replaces the environment's
	urlFlag string
	json    bool
	open    func(ctx context.Context, url string) (*storeurl.Opened, error)

	started bool // the command line as such was understood
}

// openExisting makes nothing: a misspelt name must not become an empty store.
func openExisting(ctx context.Context, url string) (*storeurl.Opened, error) {
	return storeurl.Open(ctx, url, storeurl.Options{Existing: true})
}

// main runs the command that args say and returns the exit code.
func (c *cli) main(ctx context.Context, args []string) int {
	root := c.root() //nolint:contextcheck // its commands get the context from ExecuteContext
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.errs)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(c.errs, "effectonce: %v\n", err)
	var usage usageError
	switch {
	case errors.Is(err, errMaybe):
		return 3
	case !c.started || errors.As(err, &usage):
		_, _ = fmt.Fprintf(c.errs, "Run '%s --help' for how it is used.\n", cmd.CommandPath())
		return 2
	}
	return 1
}
