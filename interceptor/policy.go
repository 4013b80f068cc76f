package interceptor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/effectonce/effectonce"
)

// Policy says what exactly-once means for one activity type. Scope and Unknown are
// required: neither has a safe default.
type Policy struct {
	// Scope says how widely two equal calls are the same action. Required.
	Scope effectonce.Scope
	// Unknown says what may happen when nobody knows whether the effect did:
	// [Rerun], [Reconcile], [Transactional] or [Hold]. Required.
	Unknown Unknown

	// Operation is the stable name of what is done; it is part of the key. Default:
	// the activity type. Set it before an activity is renamed.
	Operation string
	// Key returns an explicit key, such as the ID of an approval. The input is then
	// the fingerprint: the same key with another input is refused. An empty key is
	// an error. args are the activity's arguments, as decoded for the body. Not for
	// scope Call.
	Key func(ctx context.Context, args []any) (string, error)
	// Identity, Check and Ignore are JSON pointers (RFC 6901) into the argument
	// list, such as "/0/note". Identity lists what is in the key, if not
	// everything is; the rest is then ignored unless listed in Check. Check lists
	// what must not change under one key. Ignore lists what does not count. Struct
	// tags `effectonce:"check"` and `effectonce:"ignore"` say the same. Not for
	// scope Call.
	Identity, Check, Ignore []string

	// Lease is how long a claim lasts without renewal: how long a crashed worker
	// blocks its action. Default: [Options.Lease]; must be at least 1s.
	Lease time.Duration
	// Wait is how long an attempt waits for another one that is at work, before it
	// fails with ErrTypeInFlight. Default: until shortly before its deadline.
	Wait time.Duration
	// Retention is how long an outcome is kept after completion. A duplicate that
	// comes later is refused with ErrTypeOutcomeExpired. Default 90 days.
	Retention time.Duration
	// KeepOutcome keeps the outcome for ever, instead of Retention.
	KeepOutcome bool
	// ForgetAfterRetention lets a duplicate run again once the retention is over: a
	// dedupe window instead of a promise. A retry of the very activity that was
	// completed is no duplicate, and is never run again. The window is the outcome's,
	// not the fingerprint's: what must not differ under one key (all of the input
	// under an explicit key, else what Check lists) is still compared after it, and a
	// call that differs there is refused with ErrTypeMismatch. To reuse a key for
	// another input, put what differs into the key, or forget the record.
	ForgetAfterRetention bool

	// Pending is how long an outside system may take, after a body that returned
	// activity.ErrResultPending, until the outcome counts as unknown. Report it with
	// a [Completer]. Default 24h.
	Pending time.Duration

	// HeldRetry is after how long an activity whose outcome is unknown looks again.
	// Default 30s; must be at least 1s, which is Temporal's own granularity.
	HeldRetry time.Duration
	// FailHeld makes the Unknown error non-retryable: for calls with few attempts,
	// where the workflow itself wants to decide.
	FailHeld bool

	// SubEffects says for each operation that the body passes to effectonce.Do what
	// may happen when nobody knows whether that one did.
	SubEffects map[string]Unknown

	// NotAppliedTypes and FinalTypes list types of ApplicationErrors that mean the
	// same as the marks NotApplied and Final.
	NotAppliedTypes, FinalTypes []string
	// Veto looks at a result and returns the error it stands for, if it is one in
	// disguise, such as a tool's error envelope. That error counts as the body's.
	Veto func(result any) error

	tags map[decision]map[string]string // of metrics
}

// Unknown says what may happen when nobody knows whether an effect happened.
type Unknown struct {
	kind unknownKind
	ask  ReconcileFunc
}

type unknownKind string

const (
	unset         unknownKind = ""
	rerun         unknownKind = "rerun"
	reconcile     unknownKind = "reconcile"
	transactional unknownKind = "transactional"
	hold          unknownKind = "hold"
)

// goesOn reports whether an action whose outcome is unknown is simply run again.
func (k unknownKind) goesOn() bool { return k == rerun || k == transactional }

// Rerun runs the body again, with the same key: for effects that are naturally
// idempotent, or whose receiver honours [effectonce.Action.Key].
func Rerun() Unknown { return Unknown{kind: rerun} }

// Reconcile asks the outside system. See [ReconcileFunc].
func Reconcile(ask ReconcileFunc) Unknown { return Unknown{kind: reconcile, ask: ask} }

// Hold keeps the action as it is until somebody resolves it; the activity keeps
// failing with the retryable ErrTypeUnknown.
func Hold() Unknown { return Unknown{kind: hold} }

// ReconcileFunc finds out whether an effect happened. It runs inside an activity
// attempt and may be called at any time, also more than once, and beside others.
// An error counts as [CannotTell].
type ReconcileFunc func(ctx context.Context, q Question) (Answer, error)

// Question is about one action.
type Question struct {
	Key        string // as the body sent it downstream
	UUID       string
	Operation  string
	Generation int
	Args       []any     // the arguments of this attempt
	Since      time.Time // when the action was first claimed
}

// Answer is what a [ReconcileFunc] found out. The zero Answer is CannotTell.
type Answer struct {
	verdict verdict
	result  any
	why     string
}

type verdict int

const (
	cannotTell verdict = iota
	applied
	notApplied
)

// Applied says that the effect happened; result becomes the activity's result.
func Applied(result any) Answer { return Answer{verdict: applied, result: result} }

// NotApplied says that the effect did not happen. The body runs then, but only once
// the request of every earlier attempt can no longer arrive: until then the
// question is asked again.
func NotApplied() Answer { return Answer{verdict: notApplied} }

// CannotTell says that it could not be found out. why is for the error message.
func CannotTell(why string) Answer { return Answer{why: why} }

// setDefaults fills in what is not set. name is the key of the table.
func (p *Policy) setDefaults(activityType, name string, o Options) {
	p.tags = metricTags(activityType)
	if p.Operation == "" {
		p.Operation = name
	}
	if p.Lease == 0 {
		p.Lease = o.Lease
	}
	if p.Retention == 0 {
		p.Retention = 90 * 24 * time.Hour
	}
	if p.KeepOutcome {
		p.Retention = 0
	}
	if p.Pending == 0 {
		p.Pending = 24 * time.Hour
	}
	if p.HeldRetry == 0 {
		p.HeldRetry = 30 * time.Second
	}
}

var scopes = map[effectonce.Scope]bool{
	effectonce.Call: true, effectonce.Run: true, effectonce.Chain: true, effectonce.Workflow: true,
	effectonce.Agent: true, effectonce.Tenant: true, effectonce.Namespace: true,
}

// faults returns every fault of the policy as the user wrote it.
func (p Policy) faults() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	selects := p.Key != nil || len(p.Identity)+len(p.Check)+len(p.Ignore) > 0
	switch {
	case p.Scope == "":
		fault("Scope is missing: say how widely two equal calls are the same action")
	case !scopes[p.Scope]:
		fault("Scope %q is not one of Call, Run, Chain, Workflow, Agent, Tenant, Namespace", p.Scope)
	case p.Scope == effectonce.Call && selects:
		fault("scope Call numbers calls with all their arguments: Key, Identity, Check and Ignore do not go with it")
	}
	p.Unknown.validate(fault, "Unknown")
	for _, operation := range slices.Sorted(maps.Keys(p.SubEffects)) {
		p.SubEffects[operation].validate(fault, fmt.Sprintf("SubEffects[%q]", operation))
	}
	if p.Key != nil && len(p.Identity) > 0 {
		fault("Key and Identity exclude each other: with an explicit key, every field that is not ignored is checked")
	}
	faults = append(faults, p.pointerFaults(nil)...)
	if p.KeepOutcome && (p.Retention != 0 || p.ForgetAfterRetention) {
		fault("KeepOutcome excludes Retention and ForgetAfterRetention")
	}
	if p.FailHeld && p.Unknown.kind.goesOn() {
		fault("FailHeld has no meaning with Rerun and Transactional: nothing is held")
	}
	atLeast(fault, "Lease", p.Lease, time.Second)
	atLeast(fault, "Pending", p.Pending, time.Second)
	atLeast(fault, "HeldRetry", p.HeldRetry, time.Second)
	atLeast(fault, "Wait", p.Wait, 0)
	atLeast(fault, "Retention", p.Retention, 0)
	return faults
}

func (u Unknown) validate(fault func(string, ...any), field string) {
	switch {
	case u.kind == unset:
		fault("%s is missing: say what may happen when nobody knows whether the effect did (Rerun, Reconcile, Transactional, Hold)", field)
	case u.kind == reconcile && u.ask == nil:
		fault("%s: Reconcile needs a function", field)
	}
}

// atLeast faults d if it is set and below low.
func atLeast(fault func(string, ...any), field string, d, low time.Duration) {
	if d != 0 && d < low {
		fault("%s must be at least %s, got %s", field, low, d)
	}
}
