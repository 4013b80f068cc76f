package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/store"
)

func (c *cli) sweep() *cobra.Command {
	return c.tidy(store.Janitor.Sweep, "written down as unknown", &cobra.Command{
		Use:   "sweep",
		Short: "Write down that overdue claims are unknown",
		Long: `Writes down that records whose lease is over are unknown. They are so from that
moment anyway; sweeping makes it visible to those who read the table.

It decides nothing, so it asks for no reason, and may run from a timer.`,
		Example: `  effectonce sweep --limit 5000`,
	})
}

func (c *cli) expire() *cobra.Command {
	return c.tidy(store.Janitor.Expire, "outcomes dropped", &cobra.Command{
		Use:   "expire",
		Short: "Drop outcomes whose retention is over",
		Long: `Drops the outcomes whose retention is over, as each was recorded with its own.
The records stay: a later duplicate is told that the action was executed and that
its outcome is no longer kept.

It decides nothing, so it asks for no reason, and may run from a timer.`,
		Example: `  effectonce expire --limit 5000`,
	})
}

// tidy completes a housekeeping command, which changes at most --limit records.
func (c *cli) tidy(work func(store.Janitor, context.Context, int) (int, error), done string, cmd *cobra.Command) *cobra.Command {
	var limit int
	cmd.Flags().IntVar(&limit, "limit", store.MaxLimit, "change at most `N` records")
	cmd.Args = cobra.NoArgs
	cmd.RunE = c.run(func(ctx context.Context, _ []string) error {
		if limit < 1 {
			return usagef("--limit must be at least 1, got %d", limit)
		}
		return c.withStore(ctx, func(s ledger) error {
			n, err := work(s, ctx, limit)
			if err != nil {
				return fmt.Errorf("%s: %w; it is safe to run it again", cmd.Name(), err)
			}
			return c.tidied(n, limit, done)
		})
	})
	return cmd
}

func (c *cli) tidied(n, limit int, done string) error {
	if c.json {
		return c.printJSON(struct {
			Changed int  `json:"changed"`
			More    bool `json:"maybe_more"`
		}{n, n == limit})
	}
	if n == limit {
		return c.println(fmt.Sprintf("%s: %d; there may be more, run it again", done, n))
	}
	return c.println(fmt.Sprintf("%s: %d", done, n))
}
