package canon

import (
	"reflect"
	"strconv"
)

// Decode reads one JSON text into a T so that whoever acts on the T and whoever
// makes a key from it see the same value.
//
// It accepts what [Text] accepts, and then is stricter than encoding/json: member
// names are compared exactly, one that T has not is [ErrUnknownMember], arrays
// must have the length of a Go array, and no number may overflow or lose
// precision. Null leaves a zero value. Numbers in an interface become json.Number,
// never float64; these, and each json.RawMessage, hold canonical text.
//
// A type's own UnmarshalJSON and UnmarshalText are called. The result is passed
// through [Value], so a T without a canonical form is refused. On an error the
// zero T is returned.
func Decode[T any](json []byte, o ...Option) (T, error) {
	var v, zero T
	opts := newOptions(o)
	if err := opts.decode(json, reflect.ValueOf(&v).Elem()); err != nil {
		return zero, err
	}
	if _, err := Value(nil, v, o...); err != nil {
		return zero, err
	}
	return v, nil
}

// decode checks the text before it is read, so that reading can be simple.
func (o *options) decode(json []byte, v reflect.Value) error {
	if _, err := planOf(v.Type()); err != nil {
		return err
	}
	if _, err := o.appendText(nil, json, 0); err != nil {
		return err
	}
	d := decoder{options: *o, src: json}
	return d.value(v)
}

// decoder reads valid JSON text.
type decoder struct {
	options
	src []byte
	pos int
}

// peek skips white space and returns the next byte.
func (d *decoder) peek() byte {
	for {
		switch c := d.src[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
}

// take skips c if it is the next byte after white space.
func (d *decoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

func (d *decoder) mismatch(detail string) error {
	return refuseAt(ErrMismatch, d.pos, detail)
}

// canonical reads the next value, of whatever kind, as canonical text.
func (d *decoder) canonical() ([]byte, error) {
	d.peek()
	start := d.pos
	d.skip()
	return d.appendText(nil, d.src[start:d.pos], 0)
}

// skip moves behind the next value.
func (d *decoder) skip() {
	switch d.peek() {
	case '{', '[':
		depth := 0
		for {
			switch d.peek() {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					d.pos++
					return
				}
			case '"':
				d.pos, _, _ = scanString(d.src, d.pos)
				continue
			}
			d.pos++
		}
	case '"':
		d.pos, _, _ = scanString(d.src, d.pos)
	case 't', 'n':
		d.pos += len("true")
	case 'f':
		d.pos += len("false")
	default:
		n, _ := scanNumber(d.src, d.pos)
		d.pos = n.end
	}
}

// text reads a string.
func (d *decoder) text() (string, error) {
	if d.peek() != '"' {
		return "", d.mismatch("string expected")
	}
	start := d.pos
	d.skip()
	return string(unescape(nil, d.src[start:d.pos])), nil
}

// number reads a number as canonical text.
func (d *decoder) number() (string, error) {
	if c := d.peek(); c != '-' && !isDigit(c) {
		return "", d.mismatch("number expected")
	}
	text, err := d.canonical()
	return string(text), err
}

// list calls element for each element of an array.
func (d *decoder) list(element func(i int) error) error {
	if !d.take('[') {
		return d.mismatch("array expected")
	}
	for i := 0; !d.take(']'); i++ {
		if i > 0 {
			d.take(',')
		}
		if err := element(i); err != nil {
			return under("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// members calls member for each name of an object. start is where the name stands.
func (d *decoder) members(member func(name string, start int) error) error {
	if !d.take('{') {
		return d.mismatch("object expected")
	}
	for first := true; !d.take('}'); first = false {
		if !first {
			d.take(',')
		}
		d.peek()
		start := d.pos
		name, err := d.text()
		if err != nil {
			return err
		}
		d.take(':')
		if err := member(name, start); err != nil {
			return err
		}
	}
	return nil
}
