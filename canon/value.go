package canon

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
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
	defer e.free() // also when a method of the value panics
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
	base     int    // of the output in dst
	depth    int    // of arrays and objects around the current value
	pointers int    // followed to the current value
	tagged   bool   // a struct with effectonce tags was met
	buf      []byte // of the forms that Split joins

	// The maps that are being written, by the type of their values.
	values  entries[reflect.Value]
	anys    entries[any]
	strings entries[string]
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func newEncoder(o options, base int) *encoder {
	e := encoders.Get().(*encoder)
	e.options, e.base = o, base
	e.depth, e.pointers, e.tagged = 0, 0, false
	return e
}

func (e *encoder) free() {
	e.values.clear()
	e.anys.clear()
	e.strings.clear()
	e.buf = e.buf[:0]
	encoders.Put(e)
}

// any appends a value of whatever type. The types that decoders make are not
// looked up.
func (e *encoder) any(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendString(dst, []byte(v))
	case map[string]any:
		return e.anyMap(dst, v)
	case []any:
		return e.anyList(dst, v)
	case bool:
		return strconv.AppendBool(dst, v), nil
	case float64:
		return appendFloat(dst, v, 64)
	case json.Number:
		return e.appendJSONNumber(dst, string(v))
	case map[string]string:
		return e.stringMap(dst, v)
	}
	p, err := planOf(reflect.TypeOf(v))
	if err != nil {
		return dst, err
	}
	return p.encode(e, dst, reflect.ValueOf(v))
}

func (e *encoder) anyList(dst []byte, list []any) (_ []byte, err error) {
	if list == nil {
		return append(dst, "null"...), nil
	}
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = e.any(dst, v); err != nil {
			return dst, under("["+strconv.Itoa(i)+"]", err)
		}
		if err := e.checkSize(dst); err != nil {
			return dst, err
		}
	}
	e.leave()
	return append(dst, ']'), nil
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

// checkSize refuses too much output. It is asked at every array, object and
// element, so that values shared many times over stop early.
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
