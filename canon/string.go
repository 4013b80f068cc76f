package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// stringForm says how a JSON string in a text relates to its canonical form.
type stringForm uint8

const (
	plainString   stringForm = iota // canonical, and without any escape
	escapedString                   // canonical, with escapes
	otherString                     // must be rewritten
)

// scanString checks the JSON string whose opening quote is at src[i] and returns
// the offset after its closing quote.
func scanString(src []byte, i int) (end int, form stringForm, err error) {
	if i = plainEnd(src, i+1); at(src, i) == '"' {
		return i + 1, plainString, nil
	}
	for i < len(src) && src[i] != '"' {
		size, f, reason := scanSpecial(src[i:])
		if reason != nil {
			return i, form, refuseAt(reason, i, "")
		}
		form = max(form, f)
		i = plainEnd(src, i+size)
	}
	if i >= len(src) {
		return i, form, refuseAt(ErrSyntax, i, "string without an end")
	}
	return i + 1, form, nil
}

// plainEnd returns the offset of the first byte from i on that does not stand for
// itself inside a string, or the length of src.
//
// Two words at a time: most strings end in one of them, and so the loop is easily
// predicted.
func plainEnd(src []byte, i int) int {
	for i+16 <= len(src) {
		a := special(binary.LittleEndian.Uint64(src[i:]))
		b := special(binary.LittleEndian.Uint64(src[i+8:]))
		n := bits.TrailingZeros64(a)
		if a == 0 {
			n = 64 + bits.TrailingZeros64(b)
		}
		i += n / 8
		if n < 128 {
			return i
		}
	}
	for {
		n := plainPrefix(word(src, i))
		i += n
		if n < 8 {
			return i
		}
	}
}

// scanSpecial checks the escape sequence or character at the start of s, which is
// not plain, and returns its length.
func scanSpecial(s []byte) (size int, form stringForm, reason error) {
	switch c := s[0]; {
	case c == '\\':
		_, size, reason = readEscape(s)
		if reason == nil {
			form = escapeForm(s[:size])
		}
		return size, form, reason
	case c < 0x20:
		return 0, 0, ErrSyntax
	}
	r, size := utf8.DecodeRune(s)
	if r == utf8.RuneError && size == 1 {
		return 0, 0, ErrUTF8
	}
	return size, plainString, nil
}

// readEscape returns the character that the escape sequence at the start of s
// stands for, and the length of the sequence. A surrogate pair is one sequence.
func readEscape(s []byte) (r rune, size int, reason error) {
	if len(s) < 2 {
		return 0, 0, ErrSyntax
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	}
	r, ok := readUnit(s)
	switch {
	case !ok:
		return 0, 0, ErrSyntax
	case !utf16.IsSurrogate(r):
		return r, 6, nil
	}
	low, ok := readUnit(s[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0, ErrSurrogate
	}
	return r, 12, nil
}

// readUnit reads one escape of the form \u and four hexadecimal digits.
func readUnit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// escapeForm says whether a valid escape sequence is the canonical way to write
// its character.
func escapeForm(seq []byte) stringForm {
	var buf [6]byte
	r, _, _ := readEscape(seq)
	if string(appendRune(buf[:0], r)) == string(seq) {
		return escapedString
	}
	return otherString
}

// unescape appends what the valid JSON string src, quotes included, stands for.
func unescape(dst, src []byte) []byte {
	for i := 1; i < len(src)-1; {
		start := i
		for src[i] != '\\' && i < len(src)-1 {
			i++
		}
		dst = append(dst, src[start:i]...)
		if i < len(src)-1 {
			r, size, _ := readEscape(src[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

// rewriteString appends the canonical form of the valid JSON string src, quotes
// included.
func rewriteString(dst, src []byte) []byte {
	dst = append(dst, '"')
	for i := 1; i < len(src)-1; {
		start := i
		for src[i] != '\\' && i < len(src)-1 {
			i++
		}
		dst = append(dst, src[start:i]...)
		if i < len(src)-1 {
			r, size, _ := readEscape(src[i:])
			dst = appendRune(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}

// appendRune appends a valid character as it stands in a canonical string: only
// quotes, backslashes and control characters are escaped, these in their short
// form if they have one.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	if r < 0x20 {
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xF])
	}
	return utf8.AppendRune(dst, r)
}

// appendString appends a Go string as a canonical JSON string. Callers that have a
// string convert it, which copies nothing, because s is only read.
func appendString(dst, s []byte) ([]byte, error) {
	dst = append(dst, '"')
	if !isPlain(s) {
		return appendEscaped(dst, s)
	}
	dst = append(dst, s...)
	return append(dst, '"'), nil
}

// appendEscaped appends a string that is not all plain, and the closing quote.
func appendEscaped(dst, s []byte) ([]byte, error) {
	start := 0
	for i := plainEnd(s, 0); i < len(s); i = plainEnd(s, i) {
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendRune(dst, rune(c))
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			return dst, refuse(ErrUTF8, "")
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"'), nil
}

// String appends the canonical form of a string to dst: what [Value] appends for it,
// without the cost of finding out its type. It returns [ErrUTF8], and dst as it was.
func String(dst []byte, s string) ([]byte, error) {
	out, err := appendString(dst, []byte(s))
	if err != nil {
		return dst, err
	}
	return out, nil
}
