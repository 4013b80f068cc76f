// Package payload turns the arguments of Temporal activities into values that
// package canon takes: payloads that nobody has decoded into a Go type, and
// protobuf messages.
//
//	args, err := payload.Args(in.Args)
//	if err != nil {
//		return err
//	}
//	split, err := fields.Split(args)
//
// # What becomes of an argument
//
//	payload json/plain           its JSON text, so that paths lead into it
//	payload json/protobuf        {"@encoding":"protobuf","@type":name,…members of its JSON text}
//	payload binary/protobuf      the message is read, then as below
//	payload binary/plain         {"@encoding":"binary/plain","data":base64}
//	payload binary/null          null
//	several payloads             a list; those of a dynamic activity are its arguments
//	protobuf message             {"@encoding":"protobuf","@type":name,…members}
//	anything else                itself
//
// Two payloads have one form only if they have one encoding and equal content. For
// that, JSON text of an object that has a member "@encoding" itself becomes
// {"@encoding":"json/plain","value":text}; and since the body of a dynamic activity
// sees how many arguments there are, its last one, if it is null, becomes
// {"@encoding":"binary/null"}, which is not left out at the end of a list.
//
// # Messages
//
// Members are those of protobuf's JSON mapping: JSON names, what is not set left
// out, 64-bit integers as strings, enums by name, Any expanded. They are read by
// protoreflect, not from the output of protojson, whose white space changes from
// build to build. Where that mapping is not an object of the message's own fields
// (Timestamp, Struct, wrappers and the like) it is one member "value", as in Any.
// The text of a json/protobuf payload is taken as it is, registered or not, so that
// a key does not depend on what a worker has linked in.
//
// A message in a struct, map or list is refused by canon.
//
// # Errors
//
// Nothing is guessed. What wraps canon.ErrRefused is wrong with the arguments, and
// will be in every worker; what does not, another worker may know better.
//
//	encoding unknown, such as one that a codec should have undone   ErrEncoding
//	binary/protobuf or Any of a message that is not linked in       ErrMessageType
//	fields that this worker's version of a message has not          ErrUnknownField
//	a data converter fails                                          its error
//	a message that has no JSON form                                 ErrMessage, wraps canon.ErrRefused
//	NaN, infinity, a time out of range                              canon.ErrRange
//	anything else                                                   the errors of canon
package payload
