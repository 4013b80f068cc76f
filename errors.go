package effectonce

import "errors"

// ErrLeaseLost is the cause (see context.Cause) with which a body's context is
// cancelled when another attempt owns the action: stop, without starting an effect.
var ErrLeaseLost = errors.New("another attempt has taken over this action")

// Types of the *temporal.ApplicationError with which an activity fails when
// effectonce stops it. They are stable: match them in workflows and in
// RetryPolicy.NonRetryableErrorTypes. The key is in the message and the first detail.
const (
	// ErrTypeUnknown: nobody knows whether the effect happened. Retryable, so that
	// the workflow goes on once the record is resolved; non-retryable if the policy
	// says FailHeld, and in local activities unless it says Rerun.
	ErrTypeUnknown = "EffectUnknown"
	// ErrTypeInFlight: another attempt is at work, and waiting for it took too
	// long. Retryable; non-retryable in local activities.
	ErrTypeInFlight = "EffectInFlight"
	// ErrTypeMismatch: the key was used with another input. Non-retryable; nothing ran.
	ErrTypeMismatch = "EffectMismatch"
	// ErrTypeOutcomeExpired: the action was executed, but its outcome is no longer
	// kept. Non-retryable; nothing ran.
	ErrTypeOutcomeExpired = "EffectOutcomeExpired"
	// ErrTypeResultLost: the effect happened, but its result cannot be handed out:
	// it cannot be encoded, or is too large. Non-retryable, and nothing runs again.
	ErrTypeResultLost = "EffectResultLost"
	// ErrTypeInput: no key can be derived from the input. Non-retryable, unless only
	// the policy's Key function failed; nothing ran.
	ErrTypeInput = "EffectInput"
	// ErrTypeScope: what the policy's scope needs was not sent: a header, a tenant,
	// an agent. Retryable, because a deploy can cure it, together with a reset of the
	// workflow: what is scheduled keeps the header it has. Nothing ran.
	ErrTypeScope = "EffectScope"
	// ErrTypeHeader: the header cannot be read, or is of a newer version.
	// Retryable, because a deploy can cure it; nothing ran.
	ErrTypeHeader = "EffectHeader"
	// ErrTypeStore: the store cannot be reached. Retryable; nothing ran.
	ErrTypeStore = "EffectStore"
	// ErrTypeRecord: there is a record, but it cannot be read. Retryable, because
	// an operator or a deploy can cure it; nothing ran.
	ErrTypeRecord = "EffectRecord"
)
