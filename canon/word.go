package canon

import (
	"encoding/binary"
	"math/bits"
)

// Names and strings are looked at in words of eight bytes.

// ones has a one in each byte.
const ones = 0x0101010101010101

// word returns the eight bytes of src from i on, the first one lowest. Those after
// the end of src are zero.
func word(src []byte, i int) uint64 {
	if i+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[i:])
	}
	return lastWord(src, i)
}

// lastWord is word where src has less than eight bytes left.
func lastWord(src []byte, i int) uint64 {
	src = src[i:]
	switch n := len(src); {
	case n >= 4: // two halves that overlap
		head, tail := binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint32(src[n-4:])
		return uint64(head) | uint64(tail)<<(8*(n-4))
	case n > 0: // the first, middle and last byte, which may be one
		return uint64(src[0]) | uint64(src[n/2])<<(n/2*8) | uint64(src[n-1])<<(8*(n-1))
	}
	return 0
}

// plainPrefix returns how many bytes of w, from the lowest on, stand for
// themselves inside a JSON string: ASCII, but no control character, quote or
// backslash.
func plainPrefix(w uint64) int { return bits.TrailingZeros64(special(w)) / 8 }

// special sets the high bit of the lowest byte of w that is not plain, and no bit
// below it.
//
// Two is flipped to bring the quote, 0x22, down to the control characters: then
// these, and no others, are below 0x21. Borrows disturb only the bytes above the
// lowest special one.
func special(w uint64) uint64 {
	return (w | ((w ^ 2*ones) - 0x21*ones) | ((w ^ '\\'*ones) - ones)) & (0x80 * ones)
}

// isPlain reports whether all of s is plain. Its last word overlaps the one before.
func isPlain(s []byte) bool {
	switch n := len(s); {
	case n >= 8:
		for i := 8; i < n; i += 8 {
			if special(binary.LittleEndian.Uint64(s[i-8:])) != 0 {
				return false
			}
		}
		return special(binary.LittleEndian.Uint64(s[n-8:])) == 0
	case n >= 4:
		head, tail := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[n-4:])
		return special(uint64(head)|uint64(tail)<<32) == 0
	case n > 0: // the first, middle and last byte, which may be one
		return special(uint64(s[0])|uint64(s[n/2])<<8|uint64(s[n-1])<<16|0x2020202020<<24) == 0
	}
	return true
}

// digitPrefix returns how many bytes of w, from the lowest on, are decimal digits.
//
// With '0' taken off they are below ten, and so without a high bit if 0x76 is
// added. Carries disturb only the bytes above the lowest other one.
func digitPrefix(w uint64) int {
	w ^= '0' * ones
	other := w | (w + 0x76*ones)
	return bits.TrailingZeros64(other&(0x80*ones)) / 8
}
