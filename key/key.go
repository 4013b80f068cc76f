package key

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Prefix starts the text form of every key and names the version of the format.
const Prefix = "eo1_"

// ErrSyntax is returned when a text is not the text form of a key.
var ErrSyntax = errors.New(`not a key: want "eo1_" and 64 lower-case hexadecimal digits`)

// Key is the identity of one action: a SHA-256 digest. The zero Key is no key.
type Key [sha256.Size]byte

// Parse reads the text form. It accepts only what [Key.String] writes: one text
// per key, so that texts may be compared. Any other text is [ErrSyntax].
func Parse(s string) (Key, error) {
	var k Key
	digits, ok := strings.CutPrefix(s, Prefix)
	if !ok || len(digits) != hex.EncodedLen(len(k)) || strings.ToLower(digits) != digits {
		return Key{}, fmt.Errorf("parse key: %w", ErrSyntax)
	}
	if _, err := hex.Decode(k[:], []byte(digits)); err != nil {
		return Key{}, fmt.Errorf("parse key: %w", ErrSyntax)
	}
	return k, nil
}

// String returns the text form: "eo1_" and 64 lower-case hexadecimal digits.
func (k Key) String() string { return Prefix + hex.EncodeToString(k[:]) }

// IsZero reports whether k is the zero Key, which names no action.
func (k Key) IsZero() bool { return k == Key{} }

// MarshalText returns the text form.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the text form; see [Parse].
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// Downstream returns the key to send to the receiver of the effect, as an
// Idempotency-Key or the like: the text form, and from generation 2 on followed by
// "-2", "-3" and so on. An intended re-run is a new request there: without the
// suffix the receiver's own cache would answer it with the first outcome.
func (k Key) Downstream(generation int) string {
	if generation <= 1 {
		return k.String()
	}
	return k.String() + "-" + strconv.Itoa(generation)
}

// UUID returns a UUID for receivers that insist on one: version 8 (RFC 9562,
// section 5.8), made from the SHA-256 of a downstream key. Equal texts give equal
// UUIDs. It is never a part cut out of the key itself.
func UUID(downstream string) string {
	sum := sha256.Sum256([]byte(downstream))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u)
	return h[0:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
