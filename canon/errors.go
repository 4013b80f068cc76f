package canon

import (
	"errors"
	"reflect"
	"strconv"
)

// ErrRefused is wrapped by every error of this package: the input has no
// canonical form, so no key may be made from it.
var ErrRefused = errors.New("canon: refused")

// The reasons for a refusal. A returned error wraps [ErrRefused] and one of
// these.
var (
	// ErrSyntax is returned when text is not exactly one RFC 8259 JSON value,
	// starts with a byte order mark, or a json.Number is not a JSON number.
	ErrSyntax = errors.New("not exactly one JSON value")

	// ErrUTF8 is returned when text, a Go string, a map key or a marshaler's
	// output is not valid UTF-8.
	ErrUTF8 = errors.New("invalid UTF-8")

	// ErrSurrogate is returned when an escaped UTF-16 surrogate has no partner.
	ErrSurrogate = errors.New("surrogate escape without a partner")

	// ErrDuplicate is returned when two members of one object have the same
	// name once unescaped.
	ErrDuplicate = errors.New("duplicate member name")

	// ErrRange is returned when a number is above the range of a double, not
	// finite, or does not fit the Go type it is decoded into, and when a time is
	// outside the years 0 to 9999.
	ErrRange = errors.New("out of range")

	// ErrLossy is returned when a number with a fraction or an exponent has
	// another value than its nearest double when printed, so that two different
	// numbers would be written alike. With [IJSON] it is returned for such
	// integers too; by [Decode] for a number that a float32 cannot keep.
	ErrLossy = errors.New("number would lose precision as a double")

	// ErrUnsafeFloat is returned when a Go float's magnitude is above 2^53-1:
	// it may be an integer that was rounded before canon saw it.
	ErrUnsafeFloat = errors.New("float above 2^53-1 may already be rounded: " +
		"decode with json.Number, json.RawMessage, a typed field or canon.Decode")

	// ErrDepth is returned when arrays and objects are nested deeper than
	// [MaxDepth], which is also how a cyclic value ends.
	ErrDepth = errors.New("nested too deeply")

	// ErrSize is returned when input or output is larger than [MaxSize], or one
	// number's text is longer than 1,024 bytes.
	ErrSize = errors.New("too large")

	// ErrUnknownMember is returned by [Decode] when the text has a member that
	// the Go type has not. Names are compared exactly.
	ErrUnknownMember = errors.New("member unknown to the Go type")

	// ErrMismatch is returned by [Decode] when a JSON value cannot be held by
	// the Go type at its place, such as a string by an int.
	ErrMismatch = errors.New("JSON value does not fit the Go type")

	// ErrUnstable is returned with [Verify] when two encodings of one value
	// differ.
	ErrUnstable = errors.New("two encodings of one value differ")

	// ErrMarshal is returned when a value's own MarshalJSON, MarshalText,
	// UnmarshalJSON or UnmarshalText returns an error.
	ErrMarshal = errors.New("the value's own method failed")

	// ErrAbsent is returned by [Fields.Split] when an identity path names
	// nothing, null, or a zero struct field: without it, different actions
	// would be one.
	ErrAbsent = errors.New("identity field is absent")

	// ErrField is returned when a path of [Fields] is malformed, cannot exist
	// or contradicts another one.
	ErrField = errors.New("invalid field path")

	// ErrType is matched by every [*TypeError].
	ErrType = errors.New("type has no canonical form")
)

// Error says why and where an input was refused. It never holds content of the
// input: neither values, nor map keys, nor member names of a text.
type Error struct {
	// Reason is one of the package's sentinels.
	Reason error
	// Offset is the byte offset in the text, or -1 if no text was involved.
	Offset int
	// Path is the place in a Go value, such as ".Items[3].Price", with [*] for
	// any map key; or the RFC 6901 pointer for [ErrAbsent] and [ErrField].
	// Empty at the root.
	Path string
	// Detail narrows the reason down; it may be empty.
	Detail string
	// Cause is the error of the value's own method for [ErrMarshal], else nil.
	// It is not part of the message, because it may hold content.
	Cause error
}

func (e *Error) Error() string {
	s := "canon: " + e.Reason.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Path != "" {
		s += ", at " + e.Path
	}
	if e.Offset >= 0 {
		s += ", at byte " + strconv.Itoa(e.Offset)
	}
	return s
}

// Unwrap returns [ErrRefused], the reason and the cause, if any.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{ErrRefused, e.Reason, e.Cause}
	}
	return []error{ErrRefused, e.Reason}
}

// TypeError is returned when no value of a Go type can be canonicalised, before
// any value is looked at. It matches [ErrType] and [ErrRefused].
type TypeError struct {
	// Type is the refused type.
	Type reflect.Type
	// Path is where it stands below the type or value that was given.
	Path string
	// Why says what is wrong with it.
	Why string
}

func (e *TypeError) Error() string {
	s := "canon: type " + e.Type.String() + " has no canonical form: " + e.Why
	if e.Path != "" {
		s += ", at " + e.Path
	}
	return s
}

// Unwrap returns [ErrRefused] and [ErrType].
func (e *TypeError) Unwrap() []error { return []error{ErrRefused, ErrType} }

// refuse returns an error without a text offset.
func refuse(reason error, detail string) error {
	return &Error{Reason: reason, Offset: -1, Detail: detail}
}

// refuseAt returns an error at a text offset.
func refuseAt(reason error, offset int, detail string) error {
	return &Error{Reason: reason, Offset: offset, Detail: detail}
}

// under puts a step in front of the path of an error of this package.
func under(step string, err error) error {
	switch e := err.(type) { //nolint:errorlint // nothing wraps the errors of this package within it
	case *Error:
		e.Path = step + e.Path
	case *TypeError:
		e.Path = step + e.Path
	}
	return err
}
