package canon

import (
	"bytes"
	"reflect"
	"slices"
)

// field is one member of a struct.
type field struct {
	name      string
	path      string // .GoName
	quoted    []byte // ,"name":
	typ       reflect.Type
	index     []int
	plan      *plan
	tagged    bool // the name is from a json tag
	omitEmpty bool
	asString  bool // ,string
	class     class
}

// structOf plans a struct without methods of its own.
func (c *compiler) structOf(p *plan) {
	fields, ok := c.visibleFields(p.typ)
	if !ok {
		return
	}
	if len(fields) == 0 && p.typ.NumField() > 0 {
		c.refuse(p.typ, "it has no exported field, so that all its values would be one")
		return
	}
	p.shape, p.encode = structShape, p.encodeStruct
	for i := range fields {
		f := &fields[i]
		f.plan = c.below(f.path, f.typ)
		if f.asString {
			f.plan = c.stringPlan(f)
		}
		p.tagged = p.tagged || f.class != inherited
	}
	p.fields = fields
}

// encodeStruct writes the fields that are not zero, in canonical order.
func (p *plan) encodeStruct(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	e.tagged = e.tagged || p.tagged
	start := len(dst)
	dst = append(dst, '{')
	for i := range p.fields {
		f := &p.fields[i]
		plan := f.plan
		member := v.Field(f.index[0])
		if len(f.index) > 1 {
			member = f.of(v)
		}
		if plan.skipZero && member.IsZero() || f.omitEmpty && isEmpty(member) {
			continue
		}
		before := len(dst)
		dst = f.appendName(dst, before == start+1)
		from := len(dst)
		var err error
		if dst, err = plan.encode(e, dst, member); err != nil {
			return dst, under(f.path, err)
		}
		if !plan.nonZero && bytes.Equal(dst[from:], plan.zero) {
			dst = dst[:before]
		}
	}
	e.leave()
	return append(dst, '}'), nil
}

// appendName starts the member, with a comma unless it is the first.
func (f *field) appendName(dst []byte, first bool) []byte {
	if first {
		return append(dst, f.quoted[1:]...)
	}
	return append(dst, f.quoted...)
}

// of returns the field's value in the struct v.
func (f *field) of(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}

// isEmpty reports what omitempty leaves out, without asking any method.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// stringPlan writes a field with the ,string option: a number or bool in quotes,
// nil pointers as null.
func (c *compiler) stringPlan(f *field) *plan {
	t := f.typ
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	inner := f.plan
	switch k := t.Kind(); {
	case k == reflect.Bool || reflect.Int <= k && k <= reflect.Float64:
		if !hasOwnMethod(t) {
			break
		}
		fallthrough
	default:
		c.refuse(f.typ, "the ,string option is for integers, floats and bools")
		return inner
	}
	quoted := &plan{typ: f.typ, shape: leafShape}
	quoted.encode = func(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return append(dst, "null"...), nil
		}
		dst, err := inner.encode(e, append(dst, '"'), v)
		return append(dst, '"'), err
	}
	return quoted
}

// visibleFields returns the fields that encoding/json version 1 would write,
// sorted by name. It refuses what that version hides silently.
func (c *compiler) visibleFields(t reflect.Type) ([]field, bool) {
	all, ok := c.collect(t)
	if !ok {
		return nil, false
	}
	// All of one name next to each other: the least deep first, then the tagged.
	slices.SortStableFunc(all, func(a, b field) int {
		switch {
		case a.name != b.name:
			return compareUTF16(a.name, b.name)
		case len(a.index) != len(b.index):
			return len(a.index) - len(b.index)
		case a.tagged && !b.tagged:
			return -1
		case b.tagged && !a.tagged:
			return 1
		}
		return 0
	})
	var visible []field
	for i, f := range all {
		if i > 0 && all[i-1].name == f.name {
			continue // hidden by the one before
		}
		if i+1 < len(all) {
			rival := all[i+1]
			if rival.name == f.name && len(rival.index) == len(f.index) && rival.tagged == f.tagged {
				c.refuse(t, "two fields are named "+f.name+", and encoding/json would drop both")
				return nil, false
			}
		}
		visible = append(visible, f)
	}
	return visible, true
}
