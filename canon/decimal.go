package canon

import (
	"bytes"
	"math"
	"strconv"
)

// decimal is the number 0.DIGITS × 10^point. Digits begin and end with a non-zero
// digit; zero has none, and no sign.
type decimal struct {
	negative bool
	digits   []byte
	point    int
}

// farExponent stands for every exponent that is beyond any double.
const farExponent = 1 << 20

// parseDecimal reads a number that fits the grammar. Its digits are appended to
// buf.
func parseDecimal(buf, text []byte) decimal {
	d := decimal{digits: buf}
	if text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	fraction := false
	for i, c := range text {
		switch {
		case c == '.':
			fraction = true
			continue
		case !isDigit(c): // e or E
			d.point += parseExponent(text[i+1:])
			return d.trim()
		case c == '0' && len(d.digits) == 0:
			if fraction {
				d.point--
			}
			continue
		}
		d.digits = append(d.digits, c)
		if !fraction {
			d.point++
		}
	}
	return d.trim()
}

func parseExponent(text []byte) int {
	sign, e := 1, 0
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	for _, c := range text {
		e = min(e*10+int(c-'0'), farExponent)
	}
	return sign * e
}

func (d decimal) trim() decimal {
	for len(d.digits) > 0 && d.digits[len(d.digits)-1] == '0' {
		d.digits = d.digits[:len(d.digits)-1]
	}
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

// append writes the decimal as ECMAScript's Number::toString, and so RFC 8785,
// writes a double with these shortest digits.
func (d decimal) append(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	n := len(d.digits)
	switch {
	case n == 0:
		return append(dst, '0')
	case n <= d.point && d.point <= 21:
		dst = append(dst, d.digits...)
		return appendZeros(dst, d.point-n)
	case 0 < d.point && d.point <= 21:
		dst = append(dst, d.digits[:d.point]...)
		dst = append(dst, '.')
		return append(dst, d.digits[d.point:]...)
	case -6 < d.point && d.point <= 0:
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -d.point)
		return append(dst, d.digits...)
	}
	dst = append(dst, d.digits[0])
	if n > 1 {
		dst = append(dst, '.')
		dst = append(dst, d.digits[1:]...)
	}
	dst = append(dst, 'e')
	if d.point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(d.point-1), 10)
}

func appendZeros(dst []byte, n int) []byte {
	const zeros = "000000000000000000000"
	return append(dst, zeros[:n]...)
}

// appendShortest appends the shortest decimal that a float of so many bits parses
// to again, the nearest to f if there are several, as ECMAScript writes it.
func appendShortest(dst []byte, f float64, bits int) []byte {
	if abs := math.Abs(f); 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	var buf, digits [32]byte
	return parseDecimal(digits[:0], strconv.AppendFloat(buf[:0], f, 'e', -1, bits)).append(dst)
}

// appendFloat appends a Go float. Above 2^53-1 it is refused: integers there are
// rounded when they become floats, and it cannot be seen any more whether this
// one was.
func appendFloat(dst []byte, f float64, bits int) ([]byte, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return dst, refuse(ErrRange, "float is not finite")
	case math.Abs(f) > maxSafeInteger:
		return dst, refuse(ErrUnsafeFloat, "")
	}
	if i := int64(f); float64(i) == f && bits == 64 {
		return strconv.AppendInt(dst, i, 10), nil
	}
	if bits == 64 {
		if dst, ok := appendThousandths(dst, f); ok {
			return dst, nil
		}
	}
	return appendShortest(dst, f, bits), nil
}

// appendThousandths appends a double, not an integer, if it is the nearest one to a
// number of thousandths with up to 15 digits, as weights and prices are. That number is
// then its shortest decimal, since no two of up to 15 digits share a double.
func appendThousandths(dst []byte, f float64) ([]byte, bool) {
	abs := math.Abs(f)
	if abs >= 1e12-1 {
		return dst, false
	}
	n := int64(abs*1000 + 0.5)
	if n == 0 || float64(n)/1000 != abs { // exact integers, and a quotient that is rounded once
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendInt(dst, n/1000, 10)
	dst = append(dst, '.', byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
	return bytes.TrimRight(dst, "0"), true
}
