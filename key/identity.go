package key

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/effectonce/effectonce/canon"
)

// version is the first element of every preimage. Another derivation is another version.
const version = "effectonce/1"

// ErrIncomplete is returned when an identity lacks a part without which two
// different actions could share one key.
var ErrIncomplete = errors.New("identity is incomplete")

// Identity holds the parts that make two calls the same action.
type Identity struct {
	Namespace string // Temporal namespace, or a logical one. Required.
	ScopeKind string // "run", "tenant", … Required; "call" has its own form, see [OfCall].
	ScopeID   string // what the scope is bound to. Empty only for scopes that have one member, such as "namespace".
	Operation string // stable name of what is done. Required.
	Intent    string // the human turn or approval; empty means none.

	// Explicit is a key that the caller chose. If it is set, Input is not used.
	Explicit string
	// Input is the canonical JSON array of the arguments that count.
	Input []byte

	canonical *byte // begins an input that is, for certain
}

// Of returns id with the identity part of s for its input. That is not looked at again:
// s must be what [canon.Fields.Split] has returned.
func (id Identity) Of(s canon.Split) Identity {
	if id.Input = s.Identity; len(id.Input) > 0 {
		id.canonical = &id.Input[0]
	}
	return id
}

// Preimage returns the canonical bytes whose SHA-256 is the key.
func (id Identity) Preimage() ([]byte, error) { return id.appendPreimage(nil) }

func (id Identity) appendPreimage(dst []byte) ([]byte, error) {
	for _, part := range []struct{ name, value string }{
		{"namespace", id.Namespace}, {"scope kind", id.ScopeKind}, {"operation", id.Operation},
	} {
		if part.value == "" {
			return nil, fmt.Errorf("derive key: %s is empty: %w", part.name, ErrIncomplete)
		}
	}
	out, err := appendList(dst, version, id.Namespace, id.ScopeKind, id.ScopeID, id.Operation)
	if err != nil {
		return nil, err
	}
	out = append(out[:len(out)-1], ',')
	if id.Intent == "" {
		out = append(out, "null,"...)
	} else if out, err = appendString(out, id.Intent); err != nil {
		return nil, err
	} else {
		out = append(out, ',')
	}
	switch {
	case id.Explicit != "":
		if out, err = appendString(out, id.Explicit); err != nil {
			return nil, err
		}
	case len(id.Input) == 0:
		return nil, fmt.Errorf("derive key: there is neither an input nor an explicit key: %w", ErrIncomplete)
	case id.canonical == &id.Input[0]:
		out = append(out, id.Input...)
	default:
		start := len(out)
		if out, err = canon.Text(out, id.Input); err != nil {
			return nil, fmt.Errorf("derive key: %w", err)
		}
		// A list of arguments is an array and an explicit key is a string, so that the
		// two can never be mistaken for one another.
		if out[start] != '[' {
			return nil, fmt.Errorf("derive key: input is not a JSON array: %w", ErrIncomplete)
		}
	}
	return append(out, ']'), nil
}

// Key returns the SHA-256 of the preimage.
func (id Identity) Key() (Key, error) {
	return digest(id.appendPreimage)
}

// OfCall returns the key of one call that the workflow side has numbered; token
// is its call token. Both parts are required.
func OfCall(namespace, token string) (Key, error) {
	if namespace == "" || token == "" {
		return Key{}, fmt.Errorf("derive key: namespace and call token are both needed: %w", ErrIncomplete)
	}
	return Digest(version, namespace, "call", token)
}

// Digest returns the SHA-256 of the canonical JSON array of parts. Roots, call
// tokens and other derived names are digests, so that they too are framed.
func Digest(parts ...string) (Key, error) {
	return digest(func(dst []byte) ([]byte, error) { return appendList(dst, parts...) })
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// digest returns the SHA-256 of what preimage appends to memory that is used again.
func digest(preimage func(dst []byte) ([]byte, error)) (Key, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	pre, err := preimage((*buffer)[:0])
	if err != nil {
		return Key{}, err
	}
	*buffer = pre
	return sha256.Sum256(pre), nil
}

// appendList appends the canonical JSON array of some texts.
func appendList(dst []byte, parts ...string) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendString(dst, part); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendString(dst []byte, s string) ([]byte, error) {
	out, err := canon.String(dst, s)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return out, nil
}
