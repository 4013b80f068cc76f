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
		Long: `Deletes, for good, completed and failed records of scopes call and run, and of
scheduled activities without a header, that finished so long ago, with their
histories. What belongs to no run (a tenant, an agent, a workflow ID, a namespace)
and what is not finished stays. Nothing records who deleted what.

A record that is gone is an action that was never done: if anybody can still ask for
it, by a reset too, IT IS DONE AGAIN. So give more than your longest run lasts, with
its resets and children, PLUS what the namespace keeps closed runs for (temporal
operator namespace describe: retention). A chain of runs (continue-as-new) lasts
longer than each of them: --chains deletes its records as well, and those of
sub-effects, whose action may be a chain's.`,
		Example: `  effectonce prune --older-than 2160h --limit 5000    # 90 days`,
		Args:    cobra.NoArgs,
		RunE: c.run(func(ctx context.Context, _ []string) error {
			switch {
			case p.Age < 24*time.Hour:
				return usagef("--older-than must be given, and be at least 24h: longer than a run lasts, plus what the namespace keeps closed runs for")
			case p.Limit < 1:
				return usagef("--limit must be at least 1, got %d", p.Limit)
			}
			p.Kinds = prunable(chains)
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
	cmd.Flags().BoolVar(&chains, "chains", false, "also records of chains of runs and of sub-effects")
	cmd.Flags().IntVar(&p.Limit, "limit", store.MaxLimit, "delete at most `N` records")
	return cmd
}

// prunable are the kinds of scope that end with a run, or with a chain of runs, and
// what shadow mode makes of them.
func prunable(chains bool) (kinds []string) {
	scopes := []effectonce.Scope{effectonce.Call, effectonce.Run, "scheduled"}
	if chains {
		scopes = append(scopes, effectonce.Chain, "action")
	}
	for _, scope := range scopes {
		kinds = append(kinds, string(scope), "shadow:"+string(scope))
	}
	return kinds
}
