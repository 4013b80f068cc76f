// Package mark lets an activity body say what its error means for the effect.
package mark

// Meaning is what an error says about the effect.
type Meaning int

// The meanings. None is an error without a mark.
const (
	None       Meaning = iota
	NotApplied         // the effect did not happen
	Unknown            // nobody knows
	Final              // it failed, and will fail again
	Applied            // it happened; Value is its result
)

// Error is an error with a meaning. Its text is that of the error it wraps.
type Error struct {
	Meaning Meaning
	Value   any
	Err     error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the body's own error.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the outermost mark of err, and the error to hand on: err without
// the mark if the mark is outermost, else err itself. Temporal reads the type
// and flags of an error from its outermost value, so a mark must not hide it.
//
// Of several joined errors each may have a mark. If they do not mean the same,
// nobody knows.
func Of(err error) (m *Error, bare error) {
	if outer, ok := err.(*Error); ok { //nolint:errorlint // only the outermost one is taken off
		return outer, outer.Err
	}
	marks := outermost(err)
	if len(marks) == 0 {
		return &Error{}, err
	}
	for _, other := range marks[1:] {
		if other.Meaning != marks[0].Meaning {
			return &Error{Meaning: Unknown, Err: err}, err
		}
	}
	return marks[0], err
}

// outermost returns the first mark on each branch of a tree of errors.
func outermost(err error) (marks []*Error) {
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() error }:
		return outermost(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, branch := range e.Unwrap() {
			marks = append(marks, outermost(branch)...)
		}
	}
	return marks
}
