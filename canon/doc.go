// Package canon writes values as canonical JSON, so that equal actions have equal
// bytes and different actions never do.
//
//	form, err := canon.Value(nil, refund)
//	if err != nil {
//		return err // no key without a canonical form
//	}
//	sum := sha256.Sum256(form)
//
// [Text] does the same for JSON text, [Decode] reads text into a Go type without
// losing anything, [Fields.Split] separates what identifies an argument list from
// what must only not change, and [Check] tells what to know about a type. Package
// canontest guards the keys of your own actions with a golden file.
//
// # Promises
//
// The form is RFC 8785, made safe for keys. Members are sorted by UTF-16 code
// units, strings are escaped as little as possible and not normalised, and there
// is no white space. A number is written as ECMAScript prints its nearest double, if
// that print has the same value; any other integer keeps all its digits; any other
// number is refused, since rounding would make two numbers one.
//
// Go values are written as encoding/json version 1 would, by code of this package,
// so that neither a toolchain nor GOEXPERIMENT=jsonv2 changes a byte. What differs:
//
//   - A struct field is left out if its form is that of its type's zero value:
//     adding a field keeps old keys. A map keeps its zero members. Nil is null, and
//     not the same as empty.
//   - Floats above 2^53-1 are refused: they may have been two different integers.
//   - time.Time is written in UTC. A big.Int is a number.
//   - MarshalJSON and MarshalText of *T are called for a T too, and their output is
//     checked like any text.
//   - What encoding/json would lose silently is refused: structs without exported
//     fields, two fields of one name, embedded pointers, methods promoted from an
//     embedded field, map keys that may collide, invalid UTF-8.
//
// Not promised: that a type's own methods write different values differently.
// Unexported fields and fields with json:"-" do not count. [Check] reports both.
// The Go code may change; the bytes for a value that was accepted will not.
//
// # Errors
//
// Every error wraps [ErrRefused]. There are no partial results.
//
//	text is not one JSON value, or json.Number no number    ErrSyntax
//	bytes are not valid UTF-8                               ErrUTF8
//	an escaped surrogate stands alone                       ErrSurrogate
//	one object has two members of one name                  ErrDuplicate
//	number above a double, NaN, Inf, year above 9999        ErrRange
//	number, not an integer, that a double prints otherwise  ErrLossy
//	Go float above 2^53-1                                   ErrUnsafeFloat
//	more than 1,000 levels, or a cycle                      ErrDepth
//	more than 16 MiB, or a number above 1,024 bytes         ErrSize
//	the Go type has no canonical form                       ErrType, *TypeError
//	text has a member that the Go type has not              ErrUnknownMember
//	text does not fit the Go type                           ErrMismatch
//	two encodings of one value differ                       ErrUnstable
//	a type's own method returns an error                    ErrMarshal
//	a path of Fields is faulty                              ErrField
//	an identity path names nothing                          ErrAbsent
//
// An [*Error] has the byte offset in a text and the path in a Go value, a
// [*TypeError] the type and path. Neither holds content, so both may be logged.
//
// # Concurrency
//
// All functions may be called by any number of goroutines. Values must not change
// while they are read; input is never changed or kept. No clock is used.
package canon
