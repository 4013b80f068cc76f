package store

import (
	"fmt"
	"time"
)

// The part of the state machine for those who do not own the claim: operators,
// reconcilers and housekeeping. See machine.go.

// AfterAmend returns the record after somebody who saw it as seen changed it.
func (r Record) AfterAmend(seen Record, c Change, now time.Time) (Record, bool, error) {
	r.Now = now
	if !r.is(seen) || seen.Uncertain() && !r.Uncertain() {
		return r, false, ErrConflict
	}
	settled := r.Done() || r.State == Free || c.Force || !now.Before(r.SettledAt(c.Settle))
	switch c.Verb {
	case Complete, Fail:
		if r.Done() && !c.Override {
			return r, false, ErrConflict
		}
		return r.revokedIfInFlight().finished(c, now), true, nil
	case Release, NotApplied:
		if r.Done() || r.State == Free {
			return r, false, ErrConflict
		}
		if !settled {
			return r, false, unsettled(r.SettledAt(c.Settle))
		}
		// The lease stays: an owner that is alive after all may still renew, and
		// so keep a second run away. Who has suspended does not renew.
		r = r.revokedIfInFlight().withoutPendingLease()
		r.State = Free
		if c.Verb == NotApplied {
			r = r.renewed()
		}
		return r, true, nil
	case AllowRerun, Forget:
		if r.State == Free && c.Verb == AllowRerun {
			return r, false, ErrConflict
		}
		if !settled {
			return r, false, unsettled(r.SettledAt(c.Settle))
		}
		if r.Done() {
			r.Deadline, r.Prior = time.Time{}, time.Time{}
		}
		r = r.freed()
		r.Generation++
		r.Token = Token{} // a repeated late write must not undo this
		if c.Verb == Forget {
			r.Fingerprint, r.Fields = Digest{}, nil
		}
		return r, true, nil
	}
	return r, false, fmt.Errorf("%w: nobody else can %s", ErrInvalid, c.Verb)
}

// AfterSweep returns the record after a sweep.
func (r Record) AfterSweep(now time.Time) (Record, bool) {
	r.Now = now
	if r.State == Unknown || !r.Uncertain() {
		return r, false
	}
	r = r.withoutPendingLease()
	r.State = Unknown
	return r, true
}

// AfterExpire returns the record after its retention was looked at.
func (r Record) AfterExpire(now time.Time) (Record, bool) {
	r.Now = now
	if !r.Done() || r.Outcome == nil || r.Retention <= 0 ||
		now.Before(r.Expires) || now.Before(r.Finished.Add(r.Retention)) {
		return r, false
	}
	r.Outcome = nil
	return r, true
}

func (r Record) revokedIfInFlight() Record {
	if r.State == InFlight {
		r.Token = Token{}
	}
	return r
}

// withoutPendingLease ends the lease of a pending record, whose owner has gone: a
// renewal that is still under way must not make it in flight.
func (r Record) withoutPendingLease() Record {
	if r.State == Pending {
		r.Lease = time.Time{}
	}
	return r
}
