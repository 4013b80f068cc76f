// Command provider runs the sample's outside company: it refunds, charges, mails and opens tickets,
// and journals every effect.
//
//	provider [-listen 127.0.0.1:0] [-journal effects.jsonl]
//
// The first line it prints is its address, such as http://127.0.0.1:41234. SIGINT and SIGTERM stop
// it after the requests under way.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/effectonce/effectonce/internal/provider"
)

// stopTimeout is how long requests under way may take after a signal.
const stopTimeout = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	journal := flags.String("journal", "", "file that keeps the effects (default: memory only)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	s, err := provider.NewServer(provider.Options{Journal: *journal})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serve(ctx, &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}, l)
}

// serve stops when ctx is done, after the requests under way.
func serve(ctx context.Context, h *http.Server, l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := h.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close() // a request slower than that has lost its answer
	}
	<-served
	return err
}
