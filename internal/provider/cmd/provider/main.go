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
	"os"
	"os/signal"
	"syscall"

	"github.com/effectonce/effectonce/internal/provider"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) error {
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
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if _, err := fmt.Fprintf(out, "http://%s\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close(), s.Close())
	}
	return s.Serve(ctx, l)
}
