// Command worker is the sample: a support agent whose tools have effects, each exactly once.
//
//	worker          connect to Temporal and work (the same as "worker run")
//	worker demo     show on this machine, with everything started for you, what effectonce does
//
// The connection to Temporal comes from the usual TEMPORAL_* environment or configuration file. See
// policies.go for what exactly-once means for each tool.
//
// The exit code is 0 after SIGINT or SIGTERM, once running activities have ended, and 1 after any
// error; the demo's also if a row of its table is not as promised.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an end, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := runCommand("worker")
	root.Long = "The sample worker of effectonce: a support agent whose tools have effects, each exactly once."
	root.SilenceUsage = true
	root.SilenceErrors = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(runCommand("run"), demoCommand())
	return root
}
