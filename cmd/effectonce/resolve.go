package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/store"
)

// resolution is what the operator found out.
type resolution struct {
	change
	applied, notApplied, release bool
	result                       string
	noResult                     bool
}

func (c *cli) resolve() *cobra.Command {
	var r resolution
	cmd := &cobra.Command{
		Use:   "resolve KEY {--applied {--result JSON | --no-result} | --not-applied | --release}",
		Short: "Say what happened where nobody knows",
		Long: `Says what became of an action, after somebody looked at where it has its effect.
Activities that wait for it go on with the next attempt.

--applied      It happened. Every attempt, reset and duplicate is answered with
               --result: what the activity would have returned, as JSON, kept in
               the clear and not encrypted by the worker's codec. --result - reads
               it from standard input; --no-result is for activities that return
               nothing but an error.
--not-applied  It did not happen. The next attempt runs it as a new request: the
               key that is sent downstream gets a new suffix, so that the receiver
               does not answer from its own cache.
--release      It may have happened, and running it again is safe because the
               receiver honours the key. The same key is sent downstream.

--not-applied and --release are refused until no request of an attempt can still
arrive: its deadline plus --settle, which should be no shorter than the worker's.
--applied is refused while an attempt is at work. --force skips both; the effect
may then happen twice.

To let a workflow give up instead, cancel it or its activity in Temporal.`,
		Example: `  effectonce resolve eo1_… --applied --result '{"refund":"re_17"}' --why "seen in the provider's console"
  effectonce resolve eo1_… --not-applied --why "provider has no such refund, asked at 14:20"`,
		Args: oneKey,
		RunE: c.run(func(ctx context.Context, args []string) error {
			if err := r.decide(c.in); err != nil {
				return err
			}
			return c.amend(ctx, args[0], r.change)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.applied, "applied", false, "it happened")
	flags.StringVar(&r.result, "result", "", "what the activity returns, as `JSON`; - reads standard input")
	flags.BoolVar(&r.noResult, "no-result", false, "the activity returns nothing")
	flags.BoolVar(&r.Override, "override", false, "with --applied: replace an outcome that is recorded already")
	flags.BoolVar(&r.notApplied, "not-applied", false, "it did not happen: run it as a new request")
	flags.BoolVar(&r.release, "release", false, "running it again with the same downstream key is safe")
	r.flags(cmd)
	r.settling(cmd)
	return cmd
}

// decide turns the flags into a verb and an outcome.
func (r *resolution) decide(in io.Reader) error {
	switch {
	case count(r.applied, r.notApplied, r.release) != 1:
		return usagef("give one of --applied, --not-applied and --release")
	case !r.applied && (r.result != "" || r.noResult || r.Override):
		return usagef("--result, --no-result and --override go with --applied only")
	case r.applied && (r.result != "") == r.noResult:
		return usagef("--applied needs either --result JSON, which is what the activity returns, or --no-result if it returns nothing")
	case r.notApplied:
		r.Verb = store.NotApplied
		return nil
	case r.release:
		r.Verb = store.Release
		return nil
	}
	r.Verb = store.Complete
	text, err := r.text(in)
	if err != nil {
		return err
	}
	r.Outcome, err = outcome.OfJSON(text)
	if err != nil {
		return usagef("--result: %w (a text needs its quotes: '\"done\"')", err)
	}
	return nil
}

// text returns the result as it is to be recorded; none for no result.
func (r *resolution) text(in io.Reader) ([]byte, error) {
	if r.noResult {
		return nil, nil
	}
	text := []byte(r.result)
	if r.result == "-" {
		var err error
		if text, err = io.ReadAll(in); err != nil {
			return nil, fmt.Errorf("--result: read standard input: %w", err)
		}
	}
	text = bytes.TrimSpace(text)
	// No text means "no result", and that has to be said; and encoding/json takes
	// bytes for text that no other program reads.
	if len(text) == 0 || !utf8.Valid(text) {
		return nil, usagef("--result: %w", outcome.ErrNotJSON)
	}
	return text, nil
}

func count(set ...bool) (n int) {
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}
