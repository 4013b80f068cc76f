package canon

import "math/bits"

// Names and strings are looked at in words of eight bytes.

// ones has a one in each byte.
const ones = 0x0101010101010101

// load returns the first eight bytes of s, the first one lowest. Of a shorter s
// the missing bytes are zero.
func load[S ~string | ~[]byte](s S) uint64 {
	switch n := len(s); {
	case n >= 8:
		return uint64(load4(s)) | uint64(load4(s[4:]))<<32
	case n >= 4: // two halves that overlap
		return uint64(load4(s)) | uint64(load4(s[n-4:]))<<(8*(n-4))
	case n > 0: // the first, middle and last byte, which may be one
		return uint64(s[0]) | uint64(s[n/2])<<(n/2*8) | uint64(s[n-1])<<(8*(n-1))
	}
	return 0
}

func load4[S ~string | ~[]byte](s S) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// plainPrefix returns how many bytes of w, from the lowest on, stand for
// themselves inside a JSON string: ASCII, but no control character, quote or
// backslash.
//
// A byte's high bit is set in special if it is none of these. Borrows disturb
// only the bytes above the lowest special one.
func plainPrefix(w uint64) int {
	special := w | (w - ' '*ones) | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)
	return bits.TrailingZeros64(special&(0x80*ones)) / 8
}
