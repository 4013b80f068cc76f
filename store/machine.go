package store

import (
	"fmt"
	"time"
)

// The state machine, as pure functions of a record and the store's clock. A
// backend may run them under a lock or inside a transaction, or say the same in
// its own language; storetest checks that it comes to the same.
//
// Each returns the record as it is afterwards and whether that is a change to be
// written down. On an error nothing has changed. now is the store's clock in whole
// microseconds, the precision that every store keeps.
//
// Whether another record belongs to the same scheduled activity is for the store
// to look up, before AfterClaim, First and AfterTakeOver: that record is the answer.

// First returns the record of a first claim.
func (q Request) First(now time.Time) Record {
	r := Record{Ref: q.Ref, Generation: 1, Created: now}
	return r.claimedBy(q, now)
}

// AfterClaim returns the record after a claim of a record that is there.
func (r Record) AfterClaim(q Request, now time.Time) (Record, bool) {
	r.Now = now
	// A token that has been used up is a delayed second copy of a request whose
	// attempt is over: nobody would run what it claims.
	if r.State != Free || r.Token == q.Token || !r.admits(q) {
		return r, false
	}
	return r.claimedBy(q, now), true
}

// admits reports whether q is the same request as the one the record stands for.
// A deploy may rename a field between two attempts of one scheduled activity:
// that is drift, not another request.
func (r Record) admits(q Request) bool {
	return r.Fingerprint == q.Fingerprint || r.Fingerprint == Digest{} ||
		r.Scheduled == q.Scheduled && q.Scheduled != Digest{}
}

// AfterTakeOver returns the record after q took it over, having seen it as seen.
func (r Record) AfterTakeOver(q Request, seen Record, now time.Time) (Record, bool, error) {
	r.Now = now
	if r.State == InFlight && r.Token == q.Token {
		return r, false, nil // our own earlier try, whose answer was lost
	}
	if !r.is(seen) || !r.Uncertain() || !r.admits(q) {
		return r, false, ErrConflict
	}
	if !q.Excluded {
		return r.claimedBy(q, now), true, nil
	}
	if until := r.SettledAt(q.Settle); now.Before(until) {
		return r, false, unsettled(until)
	}
	r = r.claimedBy(q, now)
	r.Prior = time.Time{}
	return r, true, nil
}

func (r Record) claimedBy(q Request, now time.Time) Record {
	r.Namespace, r.ScopeKind, r.ScopeID, r.Tenant = q.Namespace, q.ScopeKind, q.ScopeID, q.Tenant
	r.Operation, r.Intent = q.Operation, q.Intent
	r.WorkflowID, r.RunID, r.Attempt = q.WorkflowID, q.RunID, q.Attempt
	r.Scheduled = q.Scheduled
	if r.Fingerprint == (Digest{}) {
		r.Fingerprint, r.Fields = q.Fingerprint, q.Fields
	}
	r.State, r.Token = InFlight, q.Token
	r.Fence++
	// The attempt before may still have a request under way: remember until when.
	r.Prior = later(r.Prior, r.Deadline)
	r.Lease, r.Deadline = in(now, q.Lease), in(now, q.Remaining)
	r.Retention, r.Expires = q.Retention, time.Time{}
	if q.Retention > 0 {
		r.Expires = in(now, q.Retention)
	}
	r.Now = now
	return r
}

// AfterRenew returns the record after a renewal, and whether the claim is lost.
func (r Record) AfterRenew(held Claim, lease time.Duration, now time.Time) (next Record, changed, lost bool) {
	r.Now = now
	switch {
	case !r.ownedBy(held) || r.Done():
		return r, false, true
	case r.Lease.IsZero() || r.State == Pending:
		// Its owner has ended it already: a renewal that was still under way
		// must not bring it back.
		return r, false, false
	}
	r.State, r.Lease = InFlight, in(now, lease)
	return r, true, false
}

// AfterReport returns the record after its owner reported c.
func (r Record) AfterReport(held Claim, c Change, now time.Time) (Record, bool, error) {
	r.Now = now
	if !r.ownedBy(held) {
		return r, false, ErrLeaseLost
	}
	if r.Done() {
		if r.saysSame(c) {
			return r, false, nil // our own earlier try, whose answer was lost
		}
		return r, false, ErrLeaseLost
	}
	switch c.Verb {
	case Complete, Fail:
		return r.finished(c, now), true, nil
	case Release:
		// The lease is ended even if somebody else has freed the record: a renewal
		// that is still under way must not bring it back.
		return r.freed(), r.State != Free || !r.Lease.IsZero(), nil
	case NotApplied:
		if r.State == Free && r.Deadline.IsZero() {
			return r.freed(), !r.Lease.IsZero(), nil // counted already
		}
		if now.Before(settledAt(r.Prior, c.Settle)) {
			return r, false, unsettled(settledAt(r.Prior, c.Settle))
		}
		// Only its own request is known to have done nothing. If an attempt before
		// it ended without saying, that one may have got through: the next run must
		// then use the same key, or the receiver could not tell the two apart.
		if r.Prior.IsZero() {
			r.Generation++
		}
		r.Deadline = time.Time{}
		return r.freed(), true, nil
	case MarkUnknown:
		if r.State != InFlight && r.State != Unknown {
			return r, false, ErrConflict
		}
		changed := r.State == InFlight || !r.Lease.IsZero()
		r.State, r.Lease = Unknown, time.Time{}
		return r, changed, nil
	case Suspend:
		if r.State == Pending {
			return r, false, nil
		}
		r.State, r.Lease = Pending, in(now, c.For)
		return r, true, nil
	}
	return r, false, fmt.Errorf("%w: an owner cannot %s", ErrInvalid, c.Verb)
}

// is reports whether r is still as seen: the claim, and what can change under it.
func (r Record) is(seen Record) bool {
	return r.Claim() == seen.Claim() && r.State == seen.State &&
		r.Generation == seen.Generation && r.Finished.Equal(seen.Finished)
}

// ownedBy reports whether held is the last claim. A revoked claim has no owner:
// nobody can own it by showing the zero token that it was left with.
func (r Record) ownedBy(held Claim) bool {
	return r.Claim() == held && held.Token != Token{}
}

func (r Record) saysSame(c Change) bool {
	return c.Verb == Complete && r.State == Completed && (r.Outcome == nil || r.Outcome.Equal(c.Outcome)) ||
		c.Verb == Fail && r.State == Failed && (r.Outcome == nil || r.Outcome.Equal(c.Outcome))
}

func (r Record) finished(c Change, now time.Time) Record {
	r.State = Completed
	if c.Verb == Fail {
		r.State = Failed
	}
	// Finished grows with every override, whatever the clock does: who saw the
	// outcome before must not be able to replace this one.
	if !now.After(r.Finished) {
		now = r.Finished.Add(time.Microsecond)
	}
	r.Outcome, r.Finished, r.Lease = c.Outcome, now, time.Time{}
	return r
}

// freed ends the lease and drops the outcome: the record can be claimed again.
func (r Record) freed() Record {
	r.State, r.Lease, r.Outcome, r.Finished = Free, time.Time{}, nil, time.Time{}
	return r
}

// renewed makes what follows a new request: nothing is under way any more.
func (r Record) renewed() Record {
	r.Generation++
	r.Deadline, r.Prior = time.Time{}, time.Time{}
	return r
}

func unsettled(until time.Time) error {
	return fmt.Errorf("%w until %s", ErrUnsettled, until.UTC().Format(time.RFC3339))
}

// in returns the moment d after now.
func in(now time.Time, d time.Duration) time.Time { return now.Add(d).Truncate(time.Microsecond) }

// LogRenewal reports whether a renewal of r belongs into the history, as [Resumed]:
// only if its lease was over. Ordinary renewals change nothing that lasts.
func (r Record) LogRenewal(now time.Time) bool {
	r.Now = now
	return !r.Live()
}

// Log returns the history entry for the change from prev (nil for a first claim) to r.
func (r Record) Log(prev *Record, verb Verb, who, why string) Entry {
	e := Entry{
		Ref: r.Ref, At: r.Now, Verb: verb, To: r.State, Token: r.Token, Fence: r.Fence,
		Generation: r.Generation, Attempt: r.Attempt, WorkflowID: r.WorkflowID, RunID: r.RunID,
		Who: who, Why: why,
	}
	if prev != nil {
		e.From = prev.State
	}
	return e
}
