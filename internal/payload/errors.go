package payload

import (
	"errors"
	"fmt"

	"github.com/effectonce/effectonce/canon"
)

var (
	// ErrEncoding is returned when a payload's encoding is not known: most often a
	// codec that encrypts or compresses is not configured on this worker.
	ErrEncoding = errors.New("payload encoding is not known")

	// ErrMessageType is returned when a protobuf message must be read and its type
	// is not linked into this worker.
	ErrMessageType = errors.New("protobuf message type is not linked in")

	// ErrUnknownField is returned when a message has fields that this worker's
	// version of its type has not: two messages that differ there would be one.
	ErrUnknownField = errors.New("protobuf message has fields unknown to this worker")

	// ErrMessage is returned when a message has no JSON form.
	ErrMessage = errors.New("protobuf message has no JSON form")
)

// refuse returns an error of canon's kind for the value at path.
func refuse(reason error, path, detail string) error {
	return &canon.Error{Reason: reason, Offset: -1, Path: path, Detail: detail}
}

// unsure returns an error that another worker may not have.
func unsure(reason error, path, detail string) error {
	if path != "" {
		detail += ", at " + path
	}
	return fmt.Errorf("%w: %s", reason, detail)
}
