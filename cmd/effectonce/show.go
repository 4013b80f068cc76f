package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

func (c *cli) show() *cobra.Command {
	var withOutcome bool
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "Show one record and its history",
		Long: `Shows everything that is recorded about one action, and who changed what, when
and why.

The outcome itself is shown with --outcome only: it may be personal data. What a
worker recorded is in the worker's encoding, shown as base64.`,
		Example: `  effectonce show eo1_…
  effectonce show eo1_… --json | jq .history`,
		Args: oneKey,
		RunE: c.run(func(ctx context.Context, args []string) error {
			k, err := parseKey(args[0])
			if err != nil {
				return err
			}
			return c.withStore(ctx, func(s ledger) error { return c.showRecord(ctx, s, k, withOutcome) })
		}),
	}
	cmd.Flags().BoolVar(&withOutcome, "outcome", false, "show the recorded result or failure too")
	return cmd
}

func (c *cli) showRecord(ctx context.Context, s ledger, k key.Key, withOutcome bool) error {
	r, err := lookup(ctx, s, k)
	if err != nil {
		return err
	}
	history, err := s.History(ctx, r.Ref)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	if c.json {
		shown := recordJSON(r)
		if withOutcome {
			shown.showOutcome(r.Outcome)
		}
		return c.printJSON(struct {
			recordShape
			History []entryShape `json:"history"`
		}{shown, historyJSON(history)})
	}
	if err := c.print(recordTable(r, withOutcome)); err != nil {
		return err
	}
	if err := c.println(""); err != nil {
		return err
	}
	return c.print(historyTable(history))
}

// lookup reads the record of a key, of which the root is not known.
func lookup(ctx context.Context, s ledger, k key.Key) (store.Record, error) {
	r, err := s.Lookup(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return r, fmt.Errorf("look up %s: %w; is this the worker's store?", k, store.ErrNotFound)
	}
	if err != nil {
		return r, fmt.Errorf("look up %s: %w", k, err)
	}
	return r, nil
}

func recordTable(r store.Record, withOutcome bool) *table {
	t := newTable()
	add := func(name, value string) {
		if value != "" {
			t.row(name, value)
		}
	}
	add("key", r.Key.String())
	add("state", stateOf(r))
	add("operation", r.Operation)
	add("scope", scopeOf(r))
	add("namespace", r.Namespace)
	add("tenant", r.Tenant)
	add("intent", r.Intent)
	add("workflow", r.WorkflowID)
	add("run", r.RunID)
	add("attempt", strconv.Itoa(r.Attempt))
	add("fence", strconv.FormatInt(r.Fence, 10))
	add("generation", strconv.Itoa(r.Generation))
	add("sent downstream as", r.Key.Downstream(r.Generation))
	add("or as UUID", key.UUID(r.Key.Downstream(r.Generation)))
	add("created", moment(r.Created))
	add("lease ends", moment(r.Lease))
	add("requests end", moment(requestsEnd(r)))
	add("finished", moment(r.Finished))
	add("kept until", moment(keptUntil(r)))
	switch {
	case r.Outcome != nil:
		add("outcome", fmt.Sprintf("%s, %d bytes", r.Outcome.Format, len(r.Outcome.Data)))
		if withOutcome {
			add("", outcomeText(r.Outcome))
		}
	case r.Expired():
		add("outcome", "no longer kept")
	}
	return t
}

// requestsEnd is the latest deadline of all attempts: before it, and some time
// after, "not applied" cannot be believed. It says nothing once the record is done.
func requestsEnd(r store.Record) time.Time {
	if r.Done() {
		return time.Time{}
	}
	return r.SettledAt(0)
}

// keptUntil is the moment from which the outcome may be dropped. It is known once
// there is one: retention counts from completion.
func keptUntil(r store.Record) time.Time {
	if r.Finished.IsZero() || r.Expires.IsZero() {
		return time.Time{}
	}
	if end := r.Finished.Add(r.Retention); end.After(r.Expires) {
		return end
	}
	return r.Expires
}

func outcomeText(o *store.Outcome) string {
	if o.Format == outcome.Plain || o.Format == outcome.Lost {
		return string(o.Data)
	}
	return base64.StdEncoding.EncodeToString(o.Data)
}

func historyTable(history []store.Entry) *table {
	t := newTable("AT", "WHAT", "FROM", "TO", "FENCE", "GENERATION", "ATTEMPT", "WHO", "WHY")
	for _, e := range history {
		t.row(moment(e.At), string(e.Verb), string(e.From), string(e.To), strconv.FormatInt(e.Fence, 10),
			strconv.Itoa(e.Generation), strconv.Itoa(e.Attempt), e.Who, e.Why)
	}
	return t
}
