package canon

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// compareUTF16 orders two valid UTF-8 strings by their UTF-16 code units, as RFC
// 8785 sorts member names.
//
// Byte order is the same except between U+E000–U+FFFF (first byte EE or EF) and
// the code points above (first byte F0 to F4), which UTF-16 writes as surrogates,
// below U+E000. The first differing byte of two valid strings is such a byte only
// where a character starts.
func compareUTF16[S ~string | ~[]byte](a, b S) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			return cmp.Compare(rank(x), rank(y))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// rank moves the bytes F0 to F4 below EE and EF.
func rank(c byte) byte {
	switch {
	case c >= 0xF0:
		return c - 2
	case c >= 0xEE:
		return c + 5
	}
	return c
}

// nameKey sorts a name without looking at it, most of the time.
type nameKey struct {
	prefix  uint64 // ranks of the first eight bytes; a shorter name ends in zeros
	at      uint32 // what it is the name of
	escaped uint32 // in a text, the name's number among those with escapes, from 1 on
}

// prefixOf returns the prefix of a name. Where two prefixes differ, so do the
// names, in the same order.
func prefixOf(name []byte) uint64 { return prefixOfWord(word(name, 0)) }

// prefixOfWord returns the prefix of a name whose first bytes are w.
func prefixOfWord(w uint64) uint64 {
	prefix := bits.ReverseBytes64(w)
	if prefix&(0x80*ones) == 0 {
		return prefix
	}
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], prefix)
	for i, c := range head {
		head[i] = rank(c)
	}
	return binary.BigEndian.Uint64(head[:])
}

// sortNames sorts keys. compare is asked about names with equal prefixes.
func sortNames(keys []nameKey, compare func(a, b nameKey) int) {
	if len(keys) > 24 {
		slices.SortFunc(keys, func(a, b nameKey) int {
			if a.prefix != b.prefix {
				return cmp.Compare(a.prefix, b.prefix)
			}
			return compare(a, b)
		})
		return
	}
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		j := i
		for j > 0 && (k.prefix < keys[j-1].prefix || k.prefix == keys[j-1].prefix && compare(k, keys[j-1]) < 0) {
			keys[j] = keys[j-1]
			j--
		}
		keys[j] = k
	}
}
