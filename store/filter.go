package store

import (
	"bytes"
	"fmt"
)

// The size of a page of [Lister.List].
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Size returns how many records a page has at most: Limit, or [DefaultLimit] if it
// is zero. More than [MaxLimit] is [MaxLimit].
func (f Filter) Size() int {
	if f.Limit == 0 {
		return DefaultLimit
	}
	return min(f.Limit, MaxLimit)
}

// Validate returns [ErrInvalid] if the filter makes no sense.
func (f Filter) Validate() error {
	if f.Limit < 0 {
		return fmt.Errorf("%w: Limit must not be negative, got %d", ErrInvalid, f.Limit)
	}
	return nil
}

// Matches reports whether the filter selects r, which carries the store's clock.
func (f Filter) Matches(r Record) bool {
	return is(f.State, r.State) && (!f.Uncertain || r.Uncertain()) &&
		is(f.ScopeKind, r.ScopeKind) && is(f.ScopeID, r.ScopeID) && is(f.Tenant, r.Tenant) &&
		is(f.Operation, r.Operation) && is(f.WorkflowID, r.WorkflowID) && f.After.Compare(r.Ref) < 0
}

func is[S ~string](want, got S) bool { return want == "" || want == got }

// Compare orders refs by root, then key, as bytes.
func (r Ref) Compare(o Ref) int {
	if c := bytes.Compare(r.Root[:], o.Root[:]); c != 0 {
		return c
	}
	return bytes.Compare(r.Key[:], o.Key[:])
}

// ValidateLimit returns [ErrInvalid] unless a housekeeping call may change at least
// one record.
func ValidateLimit(limit int) error {
	if limit <= 0 {
		return fmt.Errorf("%w: limit must be positive, got %d", ErrInvalid, limit)
	}
	return nil
}
