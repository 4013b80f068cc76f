package store

import (
	"fmt"
	"slices"
	"time"
)

// What a store checks before it looks at anything. Each returns [ErrInvalid] with
// the name of the field, or nil.

// Validate checks a request to claim or take over.
func (q Request) Validate() error {
	switch {
	case q.Key.IsZero():
		return fmt.Errorf("%w: Key is zero", ErrInvalid)
	case q.Token == Token{}:
		return fmt.Errorf("%w: Token is zero", ErrInvalid)
	case q.Fingerprint == Digest{}:
		return fmt.Errorf("%w: Fingerprint is zero", ErrInvalid)
	case q.Lease <= 0:
		return fmt.Errorf("%w: Lease must be positive, got %s", ErrInvalid, q.Lease)
	case q.Remaining <= 0:
		return fmt.Errorf("%w: Remaining must be positive, got %s", ErrInvalid, q.Remaining)
	case q.Retention < 0:
		return fmt.Errorf("%w: Retention must not be negative, got %s", ErrInvalid, q.Retention)
	case q.Settle < 0:
		return fmt.Errorf("%w: Settle must not be negative, got %s", ErrInvalid, q.Settle)
	}
	return nil
}

// ValidateRenew checks the length of a renewal.
func ValidateRenew(lease time.Duration) error {
	if lease <= 0 {
		return fmt.Errorf("%w: lease must be positive, got %s", ErrInvalid, lease)
	}
	return nil
}

// ValidateReport checks what the owner of held reports.
func (c Change) ValidateReport(held Claim) error {
	switch {
	case held.Key.IsZero():
		return fmt.Errorf("%w: Key is zero", ErrInvalid)
	case held.Token == Token{}:
		return fmt.Errorf("%w: Token is zero: a revoked claim has no owner", ErrInvalid)
	case c.Force || c.Override:
		return fmt.Errorf("%w: an owner cannot use Force or Override", ErrInvalid)
	}
	switch c.Verb {
	case Complete, Fail, Release, NotApplied, MarkUnknown, Suspend:
		return c.validate()
	}
	return fmt.Errorf("%w: an owner cannot %q", ErrInvalid, c.Verb)
}

// ValidateAmend checks what somebody does to the record seen that is not theirs.
func (c Change) ValidateAmend(seen Record) error {
	switch {
	case seen.Key.IsZero():
		return fmt.Errorf("%w: Key is zero", ErrInvalid)
	case c.Who == "":
		return fmt.Errorf("%w: Who is empty: the history must say who amended", ErrInvalid)
	}
	switch c.Verb {
	case Complete, Fail, Release, NotApplied, AllowRerun, Forget:
		return c.validate()
	}
	return fmt.Errorf("%w: nobody but its owner can %q", ErrInvalid, c.Verb)
}

func (c Change) validate() error {
	finishes := c.Verb == Complete || c.Verb == Fail
	switch {
	case finishes && (c.Outcome == nil || c.Outcome.Format == ""):
		return fmt.Errorf("%w: %s needs an outcome with a format", ErrInvalid, c.Verb)
	case !finishes && c.Outcome != nil:
		return fmt.Errorf("%w: %s takes no outcome", ErrInvalid, c.Verb)
	case c.Verb == Suspend && c.For <= 0:
		return fmt.Errorf("%w: For must be positive, got %s", ErrInvalid, c.For)
	case c.Settle < 0:
		return fmt.Errorf("%w: Settle must not be negative, got %s", ErrInvalid, c.Settle)
	}
	return nil
}

// Validate checks what is to be deleted. What is left out must not mean "everything".
func (p Prune) Validate() error {
	switch {
	case len(p.Kinds) == 0 || slices.Contains(p.Kinds, ""):
		return fmt.Errorf("%w: Kinds must name kinds of scope, got %q", ErrInvalid, p.Kinds)
	case p.Age <= 0:
		return fmt.Errorf("%w: Age must be positive, got %s", ErrInvalid, p.Age)
	}
	return ValidateLimit(p.Limit)
}
