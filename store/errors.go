package store

import "errors"

// Errors that tell what a store knows. Each means that nothing was changed. Any
// other error means "maybe": the change may or may not have been made, and the
// same call with the same arguments may be repeated until one of these, or nil,
// comes back.
var (
	// ErrNotFound is returned when there is no record.
	ErrNotFound = errors.New("no such record")

	// ErrLeaseLost is returned when the caller no longer owns the claim: another
	// attempt took over, or somebody else finished or revoked it.
	ErrLeaseLost = errors.New("claim lost: another attempt owns the record or has finished it")

	// ErrConflict is returned when the record is no longer as it was seen, or
	// when its state does not allow the change. Look again, then decide.
	ErrConflict = errors.New("record changed since it was read, or its state does not allow this")

	// ErrUnsettled is returned when "it did not happen" comes too early: the
	// request of an attempt may still be under way.
	ErrUnsettled = errors.New("too early to say that it did not happen: an attempt's request may still be under way")

	// ErrInvalid is returned when a request or change lacks something.
	ErrInvalid = errors.New("invalid request")

	// ErrCorrupt is returned when a record is there but cannot be read. It is
	// never reported as "no record".
	ErrCorrupt = errors.New("record cannot be read")
)
