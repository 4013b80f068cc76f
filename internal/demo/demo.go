package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/log"

	"github.com/effectonce/effectonce/internal/temporalcli"
)

// ErrBroken is returned when a row of the table is not as promised.
var ErrBroken = errors.New("not every row is as promised")

// Options configure [Run]. Out, Progress and Self are required.
type Options struct {
	Out      io.Writer // gets the table
	Progress io.Writer // gets what is going on meanwhile
	// Self is the program to run for the parts of the demo, and the arguments in front of the one
	// that goes to [Part].
	Self []string
	// Only are the IDs of the rows to run. Default: all.
	Only []string
	// Keep leaves everything running after the table is printed, until ctx ends.
	Keep bool
}

// patience is how long one trial may take. The longest takes some ten seconds.
const patience = 2 * time.Minute

// quiet keeps the Temporal client from telling about every connection.
var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// Run runs the demo and prints its table.
func Run(ctx context.Context, o Options) error {
	chosen, err := choose(o.Only)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	err = o.run(ctx, chosen, fail)
	if ctx.Err() != nil && err != nil && !errors.Is(err, ErrBroken) {
		// What failed meanwhile failed because of that.
		return fmt.Errorf("the demo was stopped: %w", context.Cause(ctx))
	}
	return err
}

func (o Options) run(ctx context.Context, chosen []row, fail context.CancelCauseFunc) (err error) {
	cli, err := temporalCLI(ctx, o.Progress)
	if err != nil {
		return err
	}
	begun := time.Now()
	say(o.Progress, "starting a Temporal server, a provider and workers …")
	c, err := found(ctx, cli, o.Self, fail)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.staff(chosen); err != nil {
		return err
	}
	say(o.Progress, "Temporal UI: %s (until the demo ends; --keep leaves it running)", c.temporal.UI())
	lines := c.playAll(ctx, chosen, o.Progress)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	printTable(o.Out, lines, time.Since(begun))
	if o.Keep {
		c.keep(ctx, o.Out)
	}
	if slices.ContainsFunc(lines, func(l line) bool { return len(l.faults()) > 0 }) {
		return ErrBroken
	}
	return nil
}

// choose returns the rows with these IDs, all if there are none, in the order of the table.
func choose(ids []string) ([]row, error) {
	if len(ids) == 0 {
		return rows, nil
	}
	var chosen []row
	for _, r := range rows {
		if slices.Contains(ids, r.id) {
			chosen = append(chosen, r)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
			return nil, fmt.Errorf("there is no row %q: the rows are a to %s", id, rows[len(rows)-1].id)
		}
	}
	return chosen, nil
}

// temporalCLI finds the Temporal program, or builds it.
func temporalCLI(ctx context.Context, progress io.Writer) (string, error) {
	path, err := temporalcli.Find(ctx)
	if errors.Is(err, temporalcli.ErrNotFound) {
		return temporalcli.Build(ctx, progress)
	}
	return path, err
}

// staff starts the workers of the rows that do not start their own.
func (c *company) staff(chosen []row) error {
	var ids strings.Builder
	for _, r := range chosen {
		if !r.ownWorkers {
			ids.WriteString(r.id)
		}
	}
	if ids.Len() == 0 {
		return nil
	}
	for name, with := range map[string]bool{"worker-without": false, "worker-with": true} {
		if _, err := c.worker(name, ids.String(), with, false); err != nil {
			return err
		}
	}
	return nil
}

// playAll runs all trials at the same time: they share the servers and nothing else.
func (c *company) playAll(ctx context.Context, chosen []row, progress io.Writer) []line {
	lines := make([]line, len(chosen))
	var all sync.WaitGroup
	for i, r := range chosen {
		lines[i].row = r
		all.Go(func() { lines[i].without = c.perform(ctx, trial{row: r}, progress) })
		all.Go(func() { lines[i].with = c.perform(ctx, trial{row: r, with: true}, progress) })
	}
	all.Wait()
	return lines
}

// perform runs one trial and counts what became of it.
func (c *company) perform(ctx context.Context, t trial, progress io.Writer) (r result) {
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	begun := time.Now()
	s := &session{trial: t, company: c}
	if err := c.provider.SetFaults(ctx, t.row.behaviour(t)); err != nil {
		return result{err: err}
	}
	r.err = t.row.play(limited, s)
	if err := s.measure(ctx, &r); err != nil {
		r.err = errors.Join(r.err, err)
	}
	say(progress, "row %s done in %.1fs", t.name(), time.Since(begun).Seconds())
	r.note = s.note
	return r
}

// measure counts: at the provider what happened, in the tally what it took.
func (s *session) measure(ctx context.Context, r *result) (err error) {
	found, err := s.effects(ctx)
	if err != nil {
		return err
	}
	r.effects = map[string]int{}
	for _, e := range found {
		r.effects[string(e.Kind)]++
	}
	if r.asked, err = count(s.tally(), asked, s.name()); err != nil {
		return err
	}
	r.bodies, err = count(s.tally(), body, s.name())
	return err
}

// keep waits until ctx ends.
func (c *company) keep(ctx context.Context, out io.Writer) {
	say(out, "\nEverything is left running until Ctrl-C: Temporal UI %s, server %s, provider %s,\nstore %s, logs in %s",
		c.temporal.UI(), c.temporal.Address(), c.providerURL, c.storeURL, c.dir)
	<-ctx.Done()
}

func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
