package canon

import (
	"bytes"
	"strconv"
)

// number describes a number's text by what its grammar says.
type number struct {
	end      int  // offset after the last byte
	digits   int  // before the exponent
	places   int  // digits after the point
	exponent bool // there is one
}

// integer reports whether the text has neither fraction nor exponent.
func (n number) integer() bool { return n.places == 0 && !n.exponent }

// scanNumber reads the RFC 8259 number at src[i:]. It returns false if there is
// none; what follows the number is not its business.
func scanNumber(src []byte, i int) (n number, ok bool) {
	if at(src, i) == '-' {
		i++
	}
	start := i
	i = digitsEnd(src, i)
	n.digits = i - start
	if n.digits == 0 || n.digits > 1 && src[start] == '0' {
		return n, false
	}
	if at(src, i) == '.' {
		start = i + 1
		i = digitsEnd(src, start)
		n.places = i - start
		if n.places == 0 {
			return n, false
		}
		n.digits += n.places
	}
	if at(src, i)|0x20 == 'e' {
		i++
		if c := at(src, i); c == '+' || c == '-' {
			i++
		}
		start = i
		i = digitsEnd(src, i)
		if i == start {
			return n, false
		}
		n.exponent = true
	}
	n.end = i
	return n, true
}

// digitsEnd returns the offset of the first byte from i on that is no digit.
func digitsEnd(src []byte, i int) int {
	for {
		n := digitPrefix(word(src, i))
		i += n
		if n < 8 {
			return i
		}
	}
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// isCanonical reports whether text, which n describes, is cheaply seen to be its
// own canonical form. A false answer means that appendNumber must look.
//
// Integers of up to 21 digits are: either a double has their value, and RFC 8785
// writes it with the same digits, or their digits are kept. So are decimals from
// 1e-6 on, without a zero at the end, of up to 15 digits: no two of them share a
// double, so each is the shortest text of its own. Of longer ones that depends.
func (o *options) isCanonical(text []byte, n number) bool {
	if n.integer() {
		return n.digits <= o.exactDigits() && string(text) != "-0"
	}
	if n.exponent || n.digits > 19 || text[len(text)-1] == '0' {
		return false
	}
	if text[0] == '-' {
		text = text[1:]
	}
	if bytes.HasPrefix(text, []byte("0.000000")) {
		return false
	}
	return n.digits <= 15 || isShortest(digitsOf(text), n.places)
}

// digitsOf returns the digits of a decimal, at most 19, as one integer.
func digitsOf(text []byte) (digits uint64) {
	for _, c := range text {
		if c != '.' {
			digits = digits*10 + uint64(c-'0')
		}
	}
	return digits
}

// appendNumber appends the canonical form of text, which n describes. The
// decision is made on the exact decimal value: if what RFC 8785 writes for the
// nearest double has that value, it is written; another integer keeps its digits;
// the rest is refused, because rounding would make different numbers equal.
func (o *options) appendNumber(dst, text []byte, n number) ([]byte, error) {
	if len(text) > maxNumber {
		return dst, refuse(ErrSize, "number")
	}
	if o.isCanonical(text, n) {
		return append(dst, text...), nil
	}
	var buf, shortBuf [32]byte
	if n.digits <= 15 {
		// Its own shortest form, as in isCanonical, where doubles are dense enough.
		if d := parseDecimal(buf[:0], text); -290 < d.point && d.point < 290 {
			return d.append(dst), nil
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return dst, refuse(ErrRange, "number")
	}
	start := len(dst)
	dst = appendShortest(dst, f, 64)
	if bytes.Equal(dst[start:], text) {
		return dst, nil // as most programs write their doubles
	}
	s, d := parseDecimal(shortBuf[:0], dst[start:]), parseDecimal(buf[:0], text)
	switch {
	case s.point == d.point && bytes.Equal(s.digits, d.digits):
		return dst, nil
	case n.integer() && !o.doublesOnly:
		return append(dst[:start], text...), nil
	case o.roundFloats && !n.integer():
		return dst, nil
	}
	return dst[:start], refuse(ErrLossy, "")
}

// exactDigits is how many digits an integer may have to be surely its own
// canonical form.
func (o *options) exactDigits() int {
	if o.doublesOnly {
		return 15
	}
	return 21
}

// appendJSONNumber appends the canonical form of the text of a json.Number.
func (o *options) appendJSONNumber(dst []byte, s string) ([]byte, error) {
	if len(s) > maxNumber {
		return dst, refuse(ErrSize, "number")
	}
	var buf [32]byte
	text := append(buf[:0], s...)
	n, ok := scanNumber(text, 0)
	if !ok || n.end != len(text) {
		return dst, refuse(ErrSyntax, "not a JSON number")
	}
	return o.appendNumber(dst, text, n)
}
