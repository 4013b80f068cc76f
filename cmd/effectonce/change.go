package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

// change is what one command does to one record. Its flags are common to all.
type change struct {
	store.Change
	fence int64 // what "show" printed; 0 if not given
}

// flags adds the flags that every changing command has.
func (ch *change) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&ch.Why, "why", "", "`REASON` for the history; required")
	flags.StringVar(&ch.Who, "who", "", "`NAME` for the history (default: the user at this host)")
	flags.Int64Var(&ch.fence, "fence", 0, "change only if the record still has the fence `N` that \"show\" printed")
}

// settling adds the flags of a command that has to wait for requests under way.
func (ch *change) settling(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&ch.Settle, "settle", 30*time.Second,
		"`TIME` after an attempt's deadline in which its request may still arrive")
	ch.forcing(cmd, "do not wait for requests under way: the effect may happen twice")
}

func (ch *change) forcing(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVar(&ch.Force, "force", false, help)
}

// complete checks the common flags and fills in what they leave out.
func (ch *change) complete() error {
	switch {
	case strings.TrimSpace(ch.Why) == "":
		return usagef("--why is required: the history must say why a record was changed by hand")
	case ch.Settle < 0:
		return usagef("--settle must not be negative, got %s", ch.Settle)
	case ch.fence < 0:
		return usagef("--fence must be at least 1, got %d", ch.fence)
	case ch.Who != "":
		return nil
	}
	who, err := operator()
	if err != nil {
		return usagef("--who is required here: %w", err)
	}
	ch.Who = who
	return nil
}

// operator names who is at the keyboard.
func operator() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	return u.Username + "@" + host, nil
}

// amend reads the record of a key, shows it in short, and changes it if it is still
// as it was shown.
func (c *cli) amend(ctx context.Context, text string, ch change) error {
	k, err := parseKey(text)
	if err != nil {
		return err
	}
	if err := ch.complete(); err != nil {
		return err
	}
	return c.withStore(ctx, func(s ledger) error {
		seen, err := lookup(ctx, s, k)
		if err != nil {
			return err
		}
		if err := c.say("%s  %s\nwas  %s\n", k, title(seen), brief(seen)); err != nil {
			return err
		}
		if err := ch.refuse(seen); err != nil {
			return err
		}
		now, err := s.Amend(ctx, seen, ch.Change)
		if err != nil {
			return ch.explain(k, seen, now, err)
		}
		if c.json {
			return c.printJSON(recordJSON(now))
		}
		return c.say("now  %s\n", brief(now))
	})
}

// say prints for people: programs asked for JSON, and get one object.
func (c *cli) say(format string, args ...any) error {
	if c.json {
		return nil
	}
	_, err := fmt.Fprintf(c.out, format, args...)
	return err
}

func title(r store.Record) string {
	text := clean(r.Operation) + ", " + clean(scopeOf(r))
	if r.WorkflowID != "" {
		text += ", workflow " + clean(r.WorkflowID)
	}
	return text
}

func brief(r store.Record) string {
	return fmt.Sprintf("%s, fence %d, generation %d", stateOf(r), r.Fence, r.Generation)
}

// refuse is about what the store would allow and an operator should not do unawares.
func (ch *change) refuse(seen store.Record) error {
	switch {
	case ch.fence != 0 && ch.fence != seen.Fence:
		return fmt.Errorf("%w: the record has fence %d, not %d; look at it again and decide anew",
			errChanged, seen.Fence, ch.fence)
	case ch.Verb == store.Complete && seen.State == store.InFlight && seen.Live() && !ch.Force:
		return fmt.Errorf("%w: an attempt is at work and will say itself what became of it (its lease runs until %s and is renewed); wait, or repeat with --force to take the record away from it",
			errRefused, moment(seen.Lease))
	}
	return nil
}

// explain says why the store did not amend, and what can be done.
func (ch *change) explain(k key.Key, seen, now store.Record, err error) error {
	switch {
	case errors.Is(err, store.ErrUnsettled):
		until := now.SettledAt(ch.Settle)
		return fmt.Errorf("%w until %s (in %s): the request of an attempt may still be under way, and the effect would happen twice if the action ran again; wait, or repeat with --force to take that risk",
			errRefused, moment(until), until.Sub(now.Now).Round(time.Second))
	case errors.Is(err, store.ErrConflict) && unchanged(seen, now):
		return fmt.Errorf("%w: %s", errRefused, impossible(ch.Verb, now.State))
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("%w: the record is now %s; nothing was changed by this command; look at it again and decide anew",
			errChanged, brief(now))
	}
	for _, known := range notApplied {
		if errors.Is(err, known) {
			return fmt.Errorf("change %s: nothing was changed: %w", k, err)
		}
	}
	// Everything else means that the answer was lost, see package store.
	return fmt.Errorf("%w: %w; run \"effectonce show %s\" to see whether it was", errMaybe, err, k)
}

// notApplied are the other errors after which nothing has changed for certain.
var notApplied = []error{store.ErrNotFound, store.ErrInvalid, store.ErrCorrupt, sqlite.ErrBusy, sqlite.ErrReadOnly}

// unchanged reports whether the store refused although the record is as it was
// shown: then its state is the reason.
func unchanged(seen, now store.Record) bool {
	return seen.Claim() == now.Claim() && seen.State == now.State && seen.Generation == now.Generation &&
		seen.Finished.Equal(now.Finished) && seen.Uncertain() == now.Uncertain()
}

func impossible(verb store.Verb, state store.State) string {
	switch {
	case verb == store.Complete:
		return fmt.Sprintf("it is %s already; --override replaces what is recorded", state)
	case state == store.Free:
		return "it is free already: the next call runs it"
	}
	return fmt.Sprintf("it is %s, so it did happen or was given up; allow-rerun lets it run once more", state)
}
