package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/store"
)

func (c *cli) list() *cobra.Command {
	var (
		f     store.Filter
		state string
		scope string
		limit int
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List records",
		Long: `Lists records, those of one run beside each other. Filters are combined with "and".

"in_flight (overdue)" is a claim whose lease is over: nobody knows its outcome,
and --uncertain finds it, although it is not written down as unknown yet.`,
		Example: `  effectonce list --uncertain --operation Refund
  effectonce list --scope tenant:acme --state completed --json | jq -r .key`,
		Args: cobra.NoArgs,
		RunE: c.run(func(ctx context.Context, _ []string) error {
			if limit < 1 {
				return usagef("--limit must be at least 1, got %d", limit)
			}
			if err := checkState(state); err != nil {
				return err
			}
			f.State = store.State(state)
			f.ScopeKind, f.ScopeID = parseScope(scope)
			if scope != "" && f.ScopeKind == "" {
				return usagef("--scope must be KIND or KIND:ID, got %q", scope)
			}
			return c.withStore(ctx, func(s ledger) error { return c.listRecords(ctx, s, f, limit) })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&state, "state", "", "as stored: `STATE` is one of "+stateNames())
	flags.BoolVar(&f.Uncertain, "uncertain", false, "only what nobody knows the outcome of, overdue claims included")
	flags.StringVar(&f.Tenant, "tenant", "", "only this `TENANT`")
	flags.StringVar(&f.Operation, "operation", "", "only this `OPERATION`")
	flags.StringVar(&f.WorkflowID, "workflow", "", "only what this workflow `ID` claimed last")
	flags.StringVar(&scope, "scope", "", "only this `KIND[:ID]` of scope, such as run or tenant:acme")
	flags.IntVar(&limit, "limit", 100, "at most `N` records")
	return cmd
}

// parseScope reads KIND[:ID]. What the interceptor records in shadow mode has a
// kind of its own, such as shadow:tenant.
func parseScope(text string) (kind, id string) {
	const shadow = "shadow:"
	text, isShadow := strings.CutPrefix(text, shadow)
	kind, id, _ = strings.Cut(text, ":")
	if isShadow {
		kind = shadow + kind
	}
	return kind, id
}

func (c *cli) listRecords(ctx context.Context, s ledger, f store.Filter, limit int) error {
	found, more, err := collect(ctx, s, f, limit)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if more {
		defer func() { _, _ = fmt.Fprintf(c.errs, "There are more than %d: raise --limit, or filter.\n", limit) }()
	}
	if c.json {
		for _, r := range found {
			if err := c.printJSON(recordJSON(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(found) == 0 {
		return c.println("no records")
	}
	t := newTable("STATE", "OPERATION", "SCOPE", "WORKFLOW", "CREATED", "KEY")
	for _, r := range found {
		t.row(stateOf(r), r.Operation, scopeOf(r), r.WorkflowID, moment(r.Created), r.Key.String())
	}
	return c.print(t)
}

// collect reads page by page, and one record more than asked for, to know whether
// there are more.
func collect(ctx context.Context, s ledger, f store.Filter, limit int) (found []store.Record, more bool, err error) {
	for len(found) <= limit {
		f.Limit = min(limit-len(found)+1, store.MaxLimit)
		page, err := s.List(ctx, f)
		if err != nil {
			return nil, false, err
		}
		found = append(found, page...)
		if len(page) < f.Limit {
			return found, false, nil
		}
		f.After = page[len(page)-1].Ref
	}
	return found[:limit], true, nil
}

var states = []store.State{store.InFlight, store.Pending, store.Completed, store.Failed, store.Free, store.Unknown}

func stateNames() string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

func checkState(name string) error {
	if name == "" {
		return nil
	}
	for _, s := range states {
		if name == string(s) {
			return nil
		}
	}
	return usagef("--state must be one of %s, got %q", stateNames(), name)
}
