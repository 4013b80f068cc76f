package canon

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// value reads the next value into v, which is zero.
func (d *decoder) value(v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		if done, err := d.special(v); done {
			return err
		}
	}
	if d.peek() == 'n' {
		d.skip()
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return d.value(v.Elem())
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return &TypeError{Type: t, Why: "it is not known which type to decode into"}
		}
		x, err := d.any()
		if err == nil && x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return err
	case reflect.Bool:
		c := d.peek()
		if c != 't' && c != 'f' {
			return d.mismatch("bool expected")
		}
		v.SetBool(c == 't')
		d.skip()
		return nil
	case reflect.String:
		s, err := d.text()
		v.SetString(s)
		return err
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		n := 0
		err := d.list(func(i int) error {
			if n++; i >= v.Len() {
				return d.mismatch("too many elements for " + t.String())
			}
			return d.value(v.Index(i))
		})
		if err == nil && n < v.Len() {
			err = d.mismatch("too few elements for " + t.String())
		}
		return err
	case reflect.Map:
		return d.mapping(v)
	case reflect.Struct:
		return d.structure(v)
	}
	return d.numeric(v)
}

// any reads a value of whatever kind.
func (d *decoder) any() (any, error) {
	switch d.peek() {
	case '{':
		m := map[string]any{}
		err := d.members(func(name string, _ int) (err error) {
			m[name], err = d.any()
			return under("[*]", err)
		})
		return m, err
	case '[':
		list := []any{}
		err := d.list(func(int) error {
			x, err := d.any()
			list = append(list, x)
			return err
		})
		return list, err
	case '"':
		return d.text()
	case 't', 'f':
		b := d.peek() == 't'
		d.skip()
		return b, nil
	case 'n':
		d.skip()
		return nil, nil
	}
	s, err := d.number()
	return json.Number(s), err
}

func (d *decoder) slice(v reflect.Value) error {
	t := v.Type()
	var c compiler
	if c.isBytes(t) {
		s, err := d.text()
		if err != nil {
			return err
		}
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil || strings.ContainsAny(s, "\r\n") {
			return d.mismatch("base64 expected")
		}
		v.SetBytes(b)
		return nil
	}
	v.Set(reflect.MakeSlice(t, 0, 0))
	return d.list(func(i int) error {
		v.Set(reflect.Append(v, reflect.Zero(t.Elem())))
		return d.value(v.Index(i))
	})
}

func (d *decoder) mapping(v reflect.Value) error {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	return d.members(func(name string, start int) error {
		key := reflect.New(t.Key()).Elem()
		if k := t.Key().Kind(); k == reflect.String {
			key.SetString(name)
		} else if !setInteger(key, name) || keyText(k)(key) != name {
			return under("[*]", refuseAt(ErrMismatch, start, "the name is no key of "+t.String()))
		}
		elem := reflect.New(t.Elem()).Elem()
		if err := d.value(elem); err != nil {
			return under("[*]", err)
		}
		v.SetMapIndex(key, elem)
		return nil
	})
}

func (d *decoder) structure(v reflect.Value) error {
	p, err := planOf(v.Type())
	if err != nil {
		return err
	}
	return d.members(func(name string, start int) error {
		for i := range p.fields {
			f := &p.fields[i]
			if f.name != name {
				continue
			}
			if f.asString && d.peek() != 'n' {
				return under(f.path, d.quoted(f.of(v)))
			}
			return under(f.path, d.value(f.of(v)))
		}
		return refuseAt(ErrUnknownMember, start, "")
	})
}

// quoted reads a number or bool that stands in a string.
func (d *decoder) quoted(v reflect.Value) error {
	start := d.pos
	s, err := d.text()
	if err != nil {
		return err
	}
	inner := decoder{options: d.options}
	inner.src, err = d.appendText(nil, []byte(s), 0)
	if err == nil {
		err = inner.value(v)
	}
	if err != nil || inner.src[0] == 'n' {
		return refuseAt(ErrMismatch, start, "number or bool in quotes expected")
	}
	return nil
}

// integer reads a number without a fraction as all its digits.
func (d *decoder) integer() (string, error) {
	start := d.pos
	s, err := d.number()
	if err != nil {
		return "", err
	}
	n := parseDecimal(nil, []byte(s))
	switch zeros := n.point - len(n.digits); {
	case len(n.digits) == 0:
		return "0", nil
	case zeros < 0:
		return "", refuseAt(ErrMismatch, start, "integer expected")
	default:
		s = string(n.digits) + strings.Repeat("0", zeros)
	}
	if n.negative {
		s = "-" + s
	}
	return s, nil
}

// numeric reads into the integer and float kinds.
func (d *decoder) numeric(v reflect.Value) error {
	d.peek()
	start := d.pos
	if v.CanFloat() {
		s, err := d.number()
		if err != nil {
			return err
		}
		f, err := strconv.ParseFloat(s, v.Type().Bits())
		if err != nil {
			return refuseAt(ErrRange, start, "number")
		}
		again, err := appendFloat(nil, f, v.Type().Bits())
		switch {
		case err != nil:
			err.(*Error).Offset = start //nolint:errorlint // appendFloat returns nothing else
			return err
		case string(again) != s:
			return refuseAt(ErrLossy, start, v.Type().String())
		}
		v.SetFloat(f)
		return nil
	}
	s, err := d.integer()
	if err != nil {
		return err
	}
	if !setInteger(v, s) {
		return refuseAt(ErrRange, start, v.Type().String())
	}
	return nil
}

// setInteger reports whether s is an integer that v can hold.
func setInteger(v reflect.Value, s string) bool {
	bits := v.Type().Bits()
	if v.CanInt() {
		n, err := strconv.ParseInt(s, 10, bits)
		v.SetInt(n)
		return err == nil
	}
	n, err := strconv.ParseUint(s, 10, bits)
	v.SetUint(n)
	return err == nil
}
