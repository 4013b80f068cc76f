package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/store"
)

func (c *cli) prune() *cobra.Command {
	p := store.Prune{}
	var chains bool
	cmd := &cobra.Command{
		Use:   "prune --older-than DURATION",
		Short: "Delete finished records of runs that Temporal has forgotten",
		Long: `Deletes, for good, completed and failed records of scopes call and run that finished
so long ago, with their histories. What belongs to no run (a tenant, an agent, a
workflow ID, a namespace) and what is not finished stays.

A record that is gone is an action that was never done: if its run is reset, or
anybody asks for it again, IT IS DONE AGAIN. So give more than the namespace keeps
runs (temporal operator namespace describe: retention) and runs last. A chain of
runs (continue-as-new) can be older than that: --chains deletes those as well.`,
		Example: `  effectonce prune --older-than 2160h --limit 5000    # 90 days`,
		Args:    cobra.NoArgs,
		RunE: c.run(func(ctx context.Context, _ []string) error {
			switch {
			case p.Age < 24*time.Hour:
				return usagef("--older-than must be given, and be at least 24h: longer than the namespace keeps runs")
			case p.Limit < 1:
				return usagef("--limit must be at least 1, got %d", p.Limit)
			}
			scopes := []effectonce.Scope{effectonce.Call, effectonce.Run}
			if chains {
				scopes = append(scopes, effectonce.Chain)
			}
			for _, scope := range scopes {
				p.Kinds = append(p.Kinds, string(scope), "shadow:"+string(scope))
			}
			return c.withStore(ctx, func(s ledger) error {
				pruner, ok := s.(store.Pruner)
				if !ok {
					return errors.New("this kind of store deletes nothing")
				}
				n, err := pruner.Prune(ctx, p)
				if err != nil {
					return fmt.Errorf("prune: %w; it is safe to run it again", err)
				}
				return c.tidied(n, p.Limit, "records deleted")
			})
		}),
	}
	cmd.Flags().DurationVar(&p.Age, "older-than", 0, "delete what finished at least `DURATION` ago, such as 2160h; required")
	cmd.Flags().BoolVar(&chains, "chains", false, "also scope chain")
	cmd.Flags().IntVar(&p.Limit, "limit", store.MaxLimit, "delete at most `N` records")
	return cmd
}
