// Command ensure builds the Temporal command line program unless this machine
// has one, and prints its path.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/effectonce/effectonce/internal/temporalcli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	path, err := temporalcli.Find(ctx)
	if errors.Is(err, temporalcli.ErrNotFound) {
		path, err = temporalcli.Build(ctx, os.Stderr)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(path)
}
