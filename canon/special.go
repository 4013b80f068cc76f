package canon

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"time"
)

// special reads into the known types and into those with methods of their own.
func (d *decoder) special(v reflect.Value) (done bool, err error) {
	d.peek()
	start := d.pos
	if !v.CanAddr() || !v.Addr().CanInterface() {
		return false, nil
	}
	switch p := v.Addr().Interface().(type) {
	case *json.Number:
		if d.peek() == 'n' {
			return false, nil
		}
		s, err := d.number()
		*p = json.Number(s)
		return true, err
	case *json.RawMessage:
		*p, err = d.canonical()
		return true, err
	case *big.Int:
		if d.peek() == 'n' {
			return false, nil
		}
		s, err := d.integer()
		if err == nil {
			p.SetString(s, 10)
		}
		return true, err
	case *time.Time:
		if d.peek() == 'n' {
			return false, nil
		}
		s, err := d.text()
		if err == nil && p.UnmarshalText([]byte(s)) != nil {
			err = refuseAt(ErrMismatch, start, "RFC 3339 time expected")
		}
		return true, err
	case json.Unmarshaler:
		text, err := d.canonical()
		if err != nil {
			return true, err
		}
		if cause := p.UnmarshalJSON(text); cause != nil {
			err = &Error{Reason: ErrMarshal, Offset: start, Detail: "UnmarshalJSON", Cause: cause}
		}
		return true, err
	case json.Marshaler:
		return true, &TypeError{Type: v.Type(), Why: "it has MarshalJSON but not UnmarshalJSON"}
	case encoding.TextUnmarshaler:
		if d.peek() == 'n' {
			return false, nil
		}
		text, err := d.text()
		if err != nil {
			return true, err
		}
		if cause := p.UnmarshalText([]byte(text)); cause != nil {
			err = &Error{Reason: ErrMarshal, Offset: start, Detail: "UnmarshalText", Cause: cause}
		}
		return true, err
	case encoding.TextMarshaler:
		return true, &TypeError{Type: v.Type(), Why: "it has MarshalText but not UnmarshalText"}
	}
	return false, nil
}
