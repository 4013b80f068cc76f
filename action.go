package effectonce

import (
	"context"

	"github.com/effectonce/effectonce/internal/current"
	"github.com/effectonce/effectonce/key"
)

// Action is the action that an activity body runs. The zero Action means that
// the body runs without effectonce; its methods return zero values.
type Action struct {
	a       current.Action
	present bool
}

// Current returns the action that the activity of ctx runs. It is the zero
// Action if the interceptor is not registered or has no policy for the activity.
func Current(ctx context.Context) Action {
	a, ok := current.From(ctx)
	return Action{a: a, present: ok}
}

// Key returns the key to send to the receiver of the effect, as an
// Idempotency-Key or the like: at most 90 ASCII characters, without personal data,
// the same for every attempt, also after a reset. An intended re-run has another
// (see [Action.Generation]). It is empty for the zero Action: send no key then.
func (a Action) Key() string {
	if !a.present {
		return ""
	}
	return a.a.Key.Downstream(a.a.Generation)
}

// UUID returns [Action.Key] as a UUID (version 8) for receivers that insist on
// one. It is empty for the zero Action.
func (a Action) UUID() string {
	if !a.present {
		return ""
	}
	return key.UUID(a.Key())
}

// Fence returns a number that is larger for every later claim of the same action.
// A database that refuses writes with a smaller fence than it has seen is safe
// from attempts that were taken over.
func (a Action) Fence() int64 { return a.a.Fence }

// Generation counts intended runs of the action, from 1. It grows when the effect
// is known not to have happened, or when somebody asked for it once more.
func (a Action) Generation() int { return a.a.Generation }

// Handle returns a text with which an outside system, or whoever hears from it, reports
// what became of the action after the body returned activity.ErrResultPending; see
// interceptor.Completer. Whoever has it can complete the action: keep it secret. It is
// empty for the zero Action.
func (a Action) Handle() string {
	if a.a.Attempt == nil {
		return ""
	}
	return a.a.Attempt.Handle()
}
