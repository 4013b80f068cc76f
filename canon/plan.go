package canon

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// encodeFunc appends a value of the one type that it was made for.
type encodeFunc func(e *encoder, dst []byte, v reflect.Value) ([]byte, error)

// plan is how values of one type are encoded.
type plan struct {
	typ    reflect.Type
	encode encodeFunc
	shape  shape
	elem   *plan   // of a pointer, map or list
	fields []field // of a struct, in canonical order
	tagged bool    // a struct with effectonce tags of its own
	mayTag bool    // it may reach such a struct
	zero   []byte  // canonical form of the zero value; nil if it has none
	zeroed bool    // zero is set

	// zeros are what is kept of the zero value where no path says what counts, by what
	// is to be kept and by the class of what has no tag; nil until it is asked for.
	zeros [checked + 1][ignored + 1]atomic.Pointer[[]byte]

	// skipZero is set if it is worth while to look whether a value is zero before
	// it is written.
	skipZero bool
	// nonZero is set if no other value has the form of the zero value.
	nonZero bool
	own     string // the type's own method that is trusted, for [Check]
}

// shape says what can be picked out of a value.
type shape uint8

const (
	leafShape    shape = iota // nothing
	textShape                 // its canonical text has parts
	pointerShape              // parts of what it points to
	dynamicShape              // parts of what the interface holds
	structShape
	mapShape
	listShape
)

// plans holds a *plan or a *TypeError for every type that was asked for.
var plans sync.Map

// planOf returns the plan for values of type t, or why there is none. A type is
// refused if anything that it can statically reach is.
func planOf(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return planOrError(p)
	}
	c := compiler{made: map[reflect.Type]*plan{}}
	p := c.plan(t)
	if len(c.faults) > 0 {
		plans.Store(t, c.faults[0])
		return planOrError(c.faults[0])
	}
	for _, made := range c.made {
		made.setZero()
		made.mayTag = made.reachesTag(map[*plan]bool{})
	}
	for typ, made := range c.made {
		plans.Store(typ, made)
	}
	return p, nil
}

// planOrError copies the error, because its path grows on the way up.
func planOrError(entry any) (*plan, error) {
	if fault, ok := entry.(*TypeError); ok {
		err := *fault
		return nil, &err
	}
	return entry.(*plan), nil
}

// compiler makes the plans for a type and for all types that it can reach.
type compiler struct {
	made   map[reflect.Type]*plan
	path   string
	faults []*TypeError
	afresh bool // take no finished plans, so that faults have a path from the root
}

// plan returns the plan for t. It may still be incomplete, if t reaches itself.
func (c *compiler) plan(t reflect.Type) *plan {
	if p, ok := c.made[t]; ok {
		return p
	}
	if p, ok := plans.Load(t); ok && !c.afresh {
		if p, ok := p.(*plan); ok {
			return p
		}
	}
	p := &plan{typ: t}
	c.made[t] = p
	c.fill(p)
	return p
}

// below returns the plan for a type that is one step below the current one.
func (c *compiler) below(step string, t reflect.Type) *plan {
	outer := c.path
	c.path += step
	p := c.plan(t)
	c.path = outer
	return p
}

// fill decides how a type is encoded: known types first, then its own methods,
// then its kind.
func (c *compiler) fill(p *plan) {
	t := p.typ
	if isMessage(t) {
		c.refuse(t, "protobuf messages are canonicalised by their descriptor, not as Go structs")
		return
	}
	if c.known(p) || c.ownMethods(p) {
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		p.encode = encodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.encode = encodeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.encode = encodeUint
	case reflect.Float32:
		p.encode = encodeFloat32
	case reflect.Float64:
		p.encode = encodeFloat64
	case reflect.String:
		p.encode = encodeString
	case reflect.Interface:
		p.shape, p.encode = dynamicShape, encodeInterface
	case reflect.Pointer:
		p.shape, p.encode = pointerShape, p.encodePointer
		p.elem = c.plan(t.Elem())
	case reflect.Slice:
		if c.isBytes(t) {
			p.encode = encodeBytes
			return
		}
		p.shape, p.encode = listShape, p.encodeSlice
		p.elem = c.below("[]", t.Elem())
	case reflect.Array:
		p.shape, p.encode = listShape, p.encodeList
		p.elem = c.below("[]", t.Elem())
	case reflect.Map:
		c.mapOf(p)
	case reflect.Struct:
		c.structOf(p)
	default:
		c.refuse(t, "a "+t.Kind().String()+" cannot be written as JSON")
	}
}

func (c *compiler) refuse(t reflect.Type, why string) {
	c.faults = append(c.faults, &TypeError{Type: t, Path: c.path, Why: why})
}

// setZero works out the form of the zero value, after those of the parts that it
// consists of.
func (p *plan) setZero() {
	if p.zeroed {
		return
	}
	p.zeroed = true
	for _, f := range p.fields {
		f.plan.setZero()
	}
	if p.typ.Kind() == reflect.Array && p.elem != nil {
		p.elem.setZero()
	}
	p.zero = p.formOfZero()
	if p.own != "" || p.zero == nil {
		return
	}
	switch p.typ.Kind() {
	case reflect.Struct, reflect.Array: // comparing the form is as good
	case reflect.Pointer, reflect.Interface:
		p.skipZero = true // but what they hold may be null too
	default:
		p.skipZero = true
		p.nonZero = p.shape != textShape // which may be null too
	}
}

// formOfZero returns nil if the zero value has no form, as when the type's own
// method fails or panics for it.
func (p *plan) formOfZero() (form []byte) {
	defer func() {
		if recover() != nil {
			form = nil
		}
	}()
	e := encoder{options: newOptions(nil)}
	form, err := p.encode(&e, nil, reflect.Zero(p.typ))
	if err != nil {
		return nil
	}
	return form
}

// reachesTag reports whether values of the type may contain a struct with
// effectonce tags.
func (p *plan) reachesTag(seen map[*plan]bool) bool {
	if p == nil || seen[p] {
		return false
	}
	seen[p] = true
	if p.tagged || p.shape == dynamicShape || p.elem.reachesTag(seen) {
		return true
	}
	return slices.ContainsFunc(p.fields, func(f field) bool { return f.plan.reachesTag(seen) })
}
