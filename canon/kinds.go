package canon

import (
	"encoding/base64"
	"reflect"
	"strconv"
)

func encodeBool(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return strconv.AppendBool(dst, v.Bool()), nil
}

func encodeInt(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	start := len(dst)
	dst = strconv.AppendInt(dst, v.Int(), 10)
	return e.checkInteger(dst, start)
}

func encodeUint(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	start := len(dst)
	dst = strconv.AppendUint(dst, v.Uint(), 10)
	return e.checkInteger(dst, start)
}

// checkInteger refuses an integer just appended if a double could not hold it,
// where that is asked for.
func (e *encoder) checkInteger(dst []byte, start int) ([]byte, error) {
	if !e.doublesOnly {
		return dst, nil
	}
	return e.appendJSONNumber(dst[:start], string(dst[start:]))
}

func encodeFloat32(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return appendFloat(dst, v.Float(), 32)
}

func encodeFloat64(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return appendFloat(dst, v.Float(), 64)
}

func encodeString(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return appendString(dst, []byte(v.String()))
}

// encodeBytes writes padded standard base64.
func encodeBytes(_ *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
	return append(dst, '"'), nil
}

// isBytes reports whether slices of type t are byte strings: the elements are
// bytes without methods that would write them differently.
func (c *compiler) isBytes(t reflect.Type) bool {
	elem := reflect.PointerTo(t.Elem())
	return t.Elem().Kind() == reflect.Uint8 &&
		!elem.Implements(marshalerType) && !elem.Implements(textMarshalerType)
}

func encodeInterface(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if v.NumMethod() == 0 && v.CanInterface() {
		return e.any(dst, v.Interface())
	}
	v = v.Elem()
	p, err := planOf(v.Type())
	if err != nil {
		return dst, err
	}
	return p.encode(e, dst, v)
}

func (p *plan) encodePointer(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if err := e.follow(); err != nil {
		return dst, err
	}
	dst, err := p.elem.encode(e, dst, v.Elem())
	e.pointers--
	return dst, err
}

func (p *plan) encodeSlice(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	return p.encodeList(e, dst, v)
}

func (p *plan) encodeList(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = p.elem.encode(e, dst, v.Index(i)); err != nil {
			return dst, under("["+strconv.Itoa(i)+"]", err)
		}
		if err := e.checkSize(dst); err != nil {
			return dst, err
		}
	}
	e.leave()
	return append(dst, ']'), nil
}
