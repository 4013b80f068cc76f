package interceptor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/store"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	plain := errors.New("boom")
	declined := temporal.NewNonRetryableApplicationError("no", "Declined", nil)
	banned := temporal.NewApplicationError("no", "Banned")
	tests := []struct {
		name      string
		err       error
		done      bool
		rerun     store.Verb
		held      store.Verb // Hold and Reconcile
		bare      error
		result    any
		untouched bool
	}{
		{name: "no error", rerun: store.Complete, held: store.Complete, result: "result"},
		{name: "plain error", err: plain, rerun: store.Release, held: store.MarkUnknown, bare: plain},
		{name: "EOF", err: io.EOF, rerun: store.Release, held: store.MarkUnknown, bare: io.EOF},
		{name: "non-retryable is not final", err: declined, rerun: store.Release, held: store.MarkUnknown, bare: declined},
		{name: "marked not applied", err: effectonce.NotApplied(declined), rerun: store.NotApplied, held: store.NotApplied, bare: declined},
		{name: "marked final", err: effectonce.Final(declined), rerun: store.Fail, held: store.Fail, bare: declined},
		{name: "marked unknown", err: effectonce.Unknown(plain), rerun: store.MarkUnknown, held: store.MarkUnknown, bare: plain},
		{name: "marked applied", err: effectonce.Applied("value", plain), rerun: store.Complete, held: store.Complete, bare: plain, result: "value"},
		{name: "listed as not applied", err: temporal.NewApplicationError("no", "Busy"), rerun: store.NotApplied, held: store.NotApplied, bare: temporal.NewApplicationError("no", "Busy")},
		{name: "listed as final", err: banned, rerun: store.Fail, held: store.Fail, bare: banned},
		{name: "a mark counts more than a list", err: effectonce.Unknown(temporal.NewApplicationError("no", "Busy")), rerun: store.MarkUnknown, held: store.MarkUnknown, bare: temporal.NewApplicationError("no", "Busy")},
		{name: "joined errors that say the same", err: errors.Join(io.EOF, effectonce.NotApplied(plain), effectonce.NotApplied(declined)), rerun: store.NotApplied, held: store.NotApplied, bare: errors.Join(io.EOF, effectonce.NotApplied(plain), effectonce.NotApplied(declined))},
		{name: "joined errors that contradict each other", err: errors.Join(effectonce.NotApplied(plain), effectonce.Applied("value", declined)), rerun: store.MarkUnknown, held: store.MarkUnknown, bare: errors.Join(effectonce.NotApplied(plain), effectonce.Applied("value", declined))},
		{name: "the outer of two marks counts", err: effectonce.Unknown(fmt.Errorf("x: %w", effectonce.NotApplied(plain))), rerun: store.MarkUnknown, held: store.MarkUnknown, bare: fmt.Errorf("x: %w", effectonce.NotApplied(plain))},
		{name: "pending", err: activity.ErrResultPending, rerun: store.Suspend, held: store.Suspend, bare: activity.ErrResultPending, untouched: true},
		{name: "wrapped pending is an ordinary error", err: fmt.Errorf("x: %w", activity.ErrResultPending), rerun: store.Release, held: store.MarkUnknown, bare: fmt.Errorf("x: %w", activity.ErrResultPending)},
		{name: "cancelled attempt", err: context.Canceled, done: true, rerun: store.Release, held: store.MarkUnknown, bare: context.Canceled, untouched: true},
		{name: "attempt out of time", err: context.DeadlineExceeded, done: true, rerun: store.Release, held: store.MarkUnknown, bare: context.DeadlineExceeded, untouched: true},
		{name: "a client's own time-out", err: context.DeadlineExceeded, rerun: store.Release, held: store.MarkUnknown, bare: context.DeadlineExceeded},
		{name: "mark inside a wrapped error", err: fmt.Errorf("pay: %w", effectonce.NotApplied(plain)), rerun: store.NotApplied, held: store.NotApplied, bare: fmt.Errorf("pay: %w", effectonce.NotApplied(plain))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, u := range []Unknown{Rerun(), Hold(), Reconcile(nil)} {
				p := Policy{Unknown: u, NotAppliedTypes: []string{"Busy"}, FinalTypes: []string{"Banned"}}
				got := classify(&p, "result", test.err, test.done)
				want := test.held
				if u.kind == rerun {
					want = test.rerun
				}
				require.Equal(t, want, got.verb, "%s", u.kind)
				require.Equal(t, test.bare, got.err, "%s: the error that goes on is the body's own", u.kind)
				require.Equal(t, test.result, got.result, "%s", u.kind)
				require.Equal(t, test.untouched, got.untouched, "%s", u.kind)
			}
			// What is not committed has not happened, so "not applied" says no more than any error.
			if test.rerun == store.NotApplied {
				test.rerun = store.Release
			}
			got := classify(&Policy{Unknown: Transactional(), NotAppliedTypes: []string{"Busy"}, FinalTypes: []string{"Banned"}}, "result", test.err, test.done)
			require.Equal(t, conclusion{verb: test.rerun, result: test.result, err: test.bare, untouched: test.untouched}, got)
		})
	}
}

func TestClassify_AVetoedResultIsTheErrorItStandsFor(t *testing.T) {
	t.Parallel()
	p := Policy{Unknown: Hold(), Veto: func(result any) error {
		if result == "isError" {
			return effectonce.NotApplied(errors.New("tool said no"))
		}
		return nil
	}}
	require.Equal(t, store.NotApplied, classify(&p, "isError", nil, false).verb)
	require.Equal(t, store.Complete, classify(&p, "fine", nil, false).verb)
}
