package effectonce

import "github.com/effectonce/effectonce/internal/mark"

// NotApplied marks err as proof that the effect did not happen: a card that was
// declined, a request that was refused before anything was done. The action can be
// claimed again, as a new request with a new [Action.Key], and the workflow sees
// err. If an earlier attempt ended without saying what became of its request, the
// mark counts once that request can no longer arrive, and the key stays the same.
//
// Use it only for errors that come from the receiver. A lost connection, a
// timeout, a 502 may hide an effect: leave such errors unmarked.
//
// A nil err gives nil. errors.Is and errors.As see err through the mark. Without
// the interceptor nobody takes the mark off, and Temporal retries a marked
// ApplicationError even if it is non-retryable.
//
// This and the other marks are seen through wrapping; the outermost one counts. Of
// joined errors with marks that differ, nobody knows: [Unknown].
func NotApplied(err error) error { return marked(mark.NotApplied, nil, err) }

// Unknown marks err as saying nothing about the effect: it may have happened. The
// policy's rule for unknown outcomes applies, whatever it says about plain errors.
// A nil err gives nil.
func Unknown(err error) error { return marked(mark.Unknown, nil, err) }

// Final marks err as the outcome: it failed, and the same request would fail
// again. Every later call with this key gets the same error without running. Use
// it for definite answers only; a reset cannot get past it, an operator can. A nil
// err gives nil.
func Final(err error) error { return marked(mark.Final, nil, err) }

// Applied says that the effect happened, with result value, although err went
// wrong afterwards. It is recorded as a success, and the workflow sees the value
// and no error. A nil err gives nil: return the value as usual then.
func Applied(value any, err error) error { return marked(mark.Applied, value, err) }

func marked(m mark.Meaning, value any, err error) error {
	if err == nil {
		return nil
	}
	return &mark.Error{Meaning: m, Value: value, Err: err}
}
