package main

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "effectonce",
		Short: "Look at recorded actions, and settle what nobody knows",
		Long: `effectonce looks at the store in which workers record what became of each action,
and amends it: it says what happened where nobody knows, or lets an action run
once more. It needs the store only, no Temporal.

Every change is recorded with who made it and why, and is made only if the
record is still as it was shown; only prune leaves nothing of what it deletes.

Exit codes: 0 done; 1 not done, nothing changed (sweep, expire, prune: perhaps a part;
they are safe to run again); 2 wrong command line; 3 the store's answer was lost, the change may or may not have been made.`,
		Example: `  export EFFECTONCE_STORE=postgres://me:secret@db/payments
  effectonce list --uncertain
  effectonce show eo1_…
  effectonce resolve eo1_… --applied --no-result --why "the customer has the mail"`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&c.urlFlag, "store", "",
		"`URL` of the store: sqlite:FILE, postgres://… or redis://… (default: "+storeVariable+")")
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON, one object per line, for programs")
	root.AddCommand(c.list(), c.show(), c.resolve(), c.allowRerun(), c.forget(), c.sweep(), c.expire(), c.prune())
	return root
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// ledger is what the commands need of a store.
type ledger interface {
	store.Store
	store.Lister
	store.Historian
	store.Janitor
}

// run makes a cobra function of a command's work. What fails before is a fault of
// the command line.
func (c *cli) run(work func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.started = true
		return work(cmd.Context(), args)
	}
}

// withStore opens the store for as long as work takes.
func (c *cli) withStore(ctx context.Context, work func(s ledger) error) (err error) {
	url := c.url
	if c.urlFlag != "" {
		url = c.urlFlag
	}
	opened, err := c.open(ctx, url)
	if err != nil {
		return openError(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	s, ok := opened.Store.(ledger)
	if !ok {
		return errors.New("this kind of store cannot be listed: " + opened.Name)
	}
	return work(s)
}

func parseKey(text string) (key.Key, error) {
	k, err := key.Parse(text)
	if err != nil {
		return k, usageError{err}
	}
	return k, nil
}
