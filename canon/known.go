package canon

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"time"
)

var (
	timeType    = reflect.TypeFor[time.Time]()
	numberType  = reflect.TypeFor[json.Number]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	bigIntType  = reflect.TypeFor[big.Int]()
	bigFloatTyp = reflect.TypeFor[big.Float]()
)

// known plans the types of the standard library that have a form of their own.
func (c *compiler) known(p *plan) bool {
	switch p.typ {
	case timeType:
		p.encode = encodeTime
	case numberType:
		p.encode = encodeNumber
	case rawType:
		p.shape, p.encode = textShape, encodeRaw
	case bigIntType:
		p.encode = encodeBigInt
	case bigFloatTyp:
		c.refuse(p.typ, "its text depends on its precision: use a string or big.Int")
	default:
		return false
	}
	return true
}

func encodeNumber(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return e.appendJSONNumber(dst, v.String())
}

func encodeRaw(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	return e.appendText(dst, v.Bytes(), e.depth)
}

func encodeBigInt(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	i := method[*big.Int](v)
	if i.BitLen() > 1024 {
		return dst, refuse(ErrRange, "integer")
	}
	return e.appendJSONNumber(dst, i.String())
}

func encodeTime(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return appendTime(dst, *method[*time.Time](v))
}

// appendTime appends the instant in UTC, as RFC 3339 with as many digits of the
// second's fraction as it needs. Location and monotonic clock do not count.
func appendTime(dst []byte, t time.Time) ([]byte, error) {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return dst, refuse(ErrRange, "year")
	}
	hour, minute, second := t.Clock()
	dst = append(dst, '"')
	dst = appendDigits(dst, year, 4)
	dst = appendDigits(append(dst, '-'), int(month), 2)
	dst = appendDigits(append(dst, '-'), day, 2)
	dst = appendDigits(append(dst, 'T'), hour, 2)
	dst = appendDigits(append(dst, ':'), minute, 2)
	dst = appendDigits(append(dst, ':'), second, 2)
	if ns := t.Nanosecond(); ns > 0 {
		dst = appendDigits(append(dst, '.'), ns, 9)
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return append(dst, 'Z', '"'), nil
}

// appendDigits appends n with zeros in front up to the width.
func appendDigits(dst []byte, n, width int) []byte {
	for limit := 10; width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			dst = appendZeros(dst, width-1)
			break
		}
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
