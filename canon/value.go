package canon

import (
	"bytes"
	"reflect"
	"sync"
)

// Value appends the canonical form of a Go value to dst and returns the longer
// slice. The result is what [Text] would make of the value's JSON, if that JSON
// lost nothing: structs and maps with the same members give the same bytes, and
// integers keep all their digits.
//
// Names, tags, embedding and omitempty are those of encoding/json, frozen here
// so that no toolchain changes a key. Besides, a struct field is left out if its
// form is that of its type's zero value, so that adding a field keeps old keys.
// The package documentation lists all rules.
//
// A type that has no canonical form is refused with a [*TypeError] before the
// value is looked at. On an error dst is returned as it was. The value must not
// change meanwhile; apart from that, any number of goroutines may call Value.
func Value(dst []byte, v any, o ...Option) ([]byte, error) {
	e := newEncoder(newOptions(o), len(dst))
	defer e.free()
	out, err := e.any(dst, v)
	if err == nil {
		err = e.checkSize(out)
	}
	if err == nil && e.verify {
		err = e.again(out, v)
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// again encodes v once more, behind the first form, and compares.
func (e *encoder) again(out []byte, v any) error {
	first := out[e.base:]
	e.base = len(out)
	out, err := e.any(out, v)
	if err != nil {
		return err
	}
	if !bytes.Equal(first, out[e.base:]) {
		return refuse(ErrUnstable, "")
	}
	return nil
}

// encoder appends one value.
type encoder struct {
	options
	base     int  // of the output in dst
	depth    int  // of arrays and objects around the current value
	pointers int  // followed to the current value
	tagged   bool // a struct with effectonce tags was met
	entries  []entry
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func newEncoder(o options, base int) *encoder {
	e := encoders.Get().(*encoder)
	*e = encoder{options: o, base: base, entries: e.entries[:0]}
	return e
}

func (e *encoder) free() {
	clear(e.entries) // they hold parts of the caller's value
	encoders.Put(e)
}

// any appends a value of whatever type.
func (e *encoder) any(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	p, err := planOf(reflect.TypeOf(v))
	if err != nil {
		return dst, err
	}
	return p.encode(e, dst, reflect.ValueOf(v))
}

// enter is called before the parts of an array or object, leave after them.
func (e *encoder) enter(dst []byte) error {
	if e.depth >= e.maxDepth {
		return refuse(ErrDepth, "")
	}
	e.depth++
	return e.checkSize(dst)
}

func (e *encoder) leave() { e.depth-- }

// checkSize refuses too much output. It is asked at every array and object, so
// that values shared many times over stop early.
func (e *encoder) checkSize(dst []byte) error {
	if len(dst)-e.base > e.maxSize {
		return refuse(ErrSize, "canonical form")
	}
	return nil
}

// follow is called before a pointer is followed, which may lead into a cycle
// without arrays or objects.
func (e *encoder) follow() error {
	if e.pointers >= 4*e.maxDepth {
		return refuse(ErrDepth, "")
	}
	e.pointers++
	return nil
}
