package interceptor

import (
	"github.com/effectonce/effectonce/store"
)

// decision is what an attempt does next.
type decision string

const (
	run            decision = "run"             // the claim is ours: run the body
	replay         decision = "replay"          // hand out the recorded outcome
	wait           decision = "wait"            // somebody else is at work
	claimAgain     decision = "claim_again"     // free, and not yet ours
	takeOver       decision = "take_over"       // unknown, and may be run again
	ask            decision = "ask"             // unknown: ask the outside system
	held           decision = "held"            // unknown, until somebody resolves it
	giveWay        decision = "give_way"        // our own run lost its claim: never run twice in one attempt
	adopt          decision = "drift"           // this scheduled activity has a record under another key or fingerprint
	mismatch       decision = "mismatch"        // this key was used with another input
	outcomeExpired decision = "outcome_expired" // executed, outcome no longer kept
	reopen         decision = "reopen"          // executed, and the dedupe window is over
)

const noDecision decision = ""

var decisions = []decision{run, replay, wait, claimAgain, takeOver, ask, held, giveWay, adopt, mismatch, outcomeExpired, reopen}

// situation is what a decision depends on besides the record.
type situation struct {
	request store.Request
	unknown unknownKind
	forget  bool // ForgetAfterRetention
	ran     bool // the body ran in this attempt
}

// decide is the whole table. The order matters: identity first, so that nothing is
// replayed or run under somebody else's key; then what is known; then what is not.
func decide(rec store.Record, s situation) decision {
	q := s.request
	sameCall := rec.Scheduled == q.Scheduled && q.Scheduled != store.Digest{}
	// Who completed the action itself, and did not hear of it, must not do it again
	// because a dedupe window is over.
	reopens := s.forget && !sameCall && !s.ran && windowOver(rec)
	differs := rec.Fingerprint != q.Fingerprint && rec.Fingerprint != store.Digest{}
	switch {
	case rec.Key != q.Key || differs && sameCall:
		return adopt
	case differs:
		return mismatch
	case rec.Done() && reopens:
		return reopen
	case rec.Done() && !rec.Expired():
		return replay
	case rec.State == store.InFlight && rec.Token == q.Token && !s.ran:
		return run // even if the answer took longer than the lease: nobody took over
	case rec.Live():
		return wait
	case rec.Done():
		return outcomeExpired
	case s.ran:
		return giveWay
	case rec.State == store.Free:
		return claimAgain
	}
	switch {
	case s.unknown.goesOn():
		return takeOver
	case s.unknown == reconcile:
		return ask
	}
	return held
}

// windowOver reports whether the outcome of a finished record need not be kept any
// longer, whether or not anybody has dropped it yet.
func windowOver(rec store.Record) bool {
	_, droppable := rec.AfterExpire(rec.Now)
	return droppable || rec.Expired()
}
