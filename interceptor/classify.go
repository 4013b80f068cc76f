package interceptor

import (
	"context"
	"errors"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce/internal/mark"
	"github.com/effectonce/effectonce/store"
)

// conclusion is what a body's return says about the effect.
type conclusion struct {
	verb   store.Verb
	result any   // for Complete
	err    error // the body's own error, without our mark
	// untouched: err goes to Temporal as it is, even where the outcome is unknown,
	// because Temporal itself acts on it.
	untouched bool
}

// classify is the whole table: policy × what the body returned. done says that the
// attempt's context was done when it returned.
func classify(p *Policy, result any, err error, done bool) conclusion {
	if err == nil && p.Veto != nil {
		err = p.Veto(result)
	}
	switch {
	case err == nil:
		return conclusion{verb: store.Complete, result: result}
	case err == activity.ErrResultPending: //nolint:errorlint // the SDK compares with == too: wrapped, it is an ordinary error
		return conclusion{verb: store.Suspend, err: err, untouched: true}
	}
	m, bare := mark.Of(err)
	c := conclusion{err: bare}
	says := m.Meaning
	if says == mark.None { // the body knows more than the policy
		says = p.meaning(bare)
	}
	switch {
	case says == mark.Applied:
		c.verb, c.result = store.Complete, m.Value
	case says == mark.NotApplied && p.Unknown.kind == transactional:
		c.verb = store.Release // no earlier attempt can still arrive: nothing has to settle
	case says == mark.NotApplied:
		c.verb = store.NotApplied
	case says == mark.Final:
		c.verb = store.Fail
	case says == mark.Unknown || !p.Unknown.kind.goesOn():
		// Anything that is not nil may hide an effect: EOF, a reset connection and a
		// 502 are the commonest lost answers and look like plain errors.
		c.verb = store.MarkUnknown
	default:
		c.verb = store.Release
	}
	c.untouched = done && isCancellation(bare)
	return c
}

func isCancellation(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || temporal.IsCanceledError(err)
}

// meaning is what the policy's lists say about an error without a mark.
func (p *Policy) meaning(err error) mark.Meaning {
	var app *temporal.ApplicationError
	switch {
	case !errors.As(err, &app):
	case slices.Contains(p.NotAppliedTypes, app.Type()):
		return mark.NotApplied
	case slices.Contains(p.FinalTypes, app.Type()):
		return mark.Final
	}
	return mark.None
}
