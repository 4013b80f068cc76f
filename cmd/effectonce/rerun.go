package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/store"
)

func (c *cli) allowRerun() *cobra.Command {
	ch := change{Change: store.Change{Verb: store.AllowRerun}}
	cmd := &cobra.Command{
		Use:   "allow-rerun KEY",
		Short: "Let an action run once more, with the same input",
		Long: `Lets an action run once more, although it is recorded what became of it: the next
call with the same input runs it as a new request, with a new suffix on the key
that is sent downstream. The recorded outcome is dropped; the history stays.

It is for an effect that is wanted a second time, such as before a workflow reset
that should send the mail again. Nothing runs until somebody calls. While a request
of an earlier attempt may be under way it is refused, as resolve --not-applied is.`,
		Example: `  effectonce allow-rerun eo1_… --why "the customer lost the mail; reset follows"`,
		Args:    oneKey,
		RunE:    c.run(func(ctx context.Context, args []string) error { return c.amend(ctx, args[0], ch) }),
	}
	ch.flags(cmd)
	ch.settling(cmd)
	return cmd
}

func (c *cli) forget() *cobra.Command {
	ch := change{Change: store.Change{Verb: store.Forget}}
	cmd := &cobra.Command{
		Use:   "forget KEY",
		Short: "Treat an action as never asked for; any input may follow",
		Long: `Treats an action as if nobody had ever asked for it: as allow-rerun, and the next
call may come with another input under the same key. The recorded outcome is
dropped; the record, its fence and its history stay.

It is for a key that was used with a wrong input, which every later call then
contradicts. While a request of an earlier attempt may be under way it is refused,
as resolve --not-applied is.`,
		Example: `  effectonce forget eo1_… --why "order 7 was entered with the wrong amount, refunded by hand"`,
		Args:    oneKey,
		RunE:    c.run(func(ctx context.Context, args []string) error { return c.amend(ctx, args[0], ch) }),
	}
	ch.flags(cmd)
	ch.settling(cmd)
	return cmd
}
