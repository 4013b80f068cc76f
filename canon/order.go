package canon

import "cmp"

// compareUTF16 orders two valid UTF-8 strings by their UTF-16 code units, as RFC
// 8785 sorts member names.
//
// Byte order is the same except between U+E000–U+FFFF (first byte EE or EF) and
// the code points above (first byte F0 to F4), which UTF-16 writes as surrogates,
// below U+E000. The first differing byte of two valid strings is such a byte only
// where a character starts.
func compareUTF16[S ~string | ~[]byte](a, b S) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
