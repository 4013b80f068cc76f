package canon

import (
	"reflect"
	"slices"
	"strconv"
)

// entry is one key of a map, as text, with its value.
type entry struct {
	key   string
	value reflect.Value
}

// mapOf plans a map. Keys are strings or integers without methods of their own:
// of others it is not certain that different keys have different texts.
func (c *compiler) mapOf(p *plan) {
	key := p.typ.Key()
	switch {
	case key.Implements(textMarshalerType) || reflect.PointerTo(key).Implements(textMarshalerType):
		c.refuse(p.typ, "map keys with MarshalText may collide")
		return
	case keyText(key.Kind()) == nil:
		c.refuse(p.typ, "map keys must be strings or integers")
		return
	}
	p.shape, p.encode = mapShape, p.encodeMap
	p.elem = c.below("[*]", p.typ.Elem())
}

// keyText returns how keys of a kind are written, or nil if they cannot be.
func keyText(k reflect.Kind) func(reflect.Value) string {
	switch k {
	case reflect.String:
		return reflect.Value.String
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(v reflect.Value) string { return strconv.FormatInt(v.Int(), 10) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(v reflect.Value) string { return strconv.FormatUint(v.Uint(), 10) }
	}
	return nil
}

// sorted pushes the entries of a map, in canonical order, on the encoder's stack.
// The caller drops them with e.drop(first).
func (e *encoder) sorted(v reflect.Value) (first int, own []entry) {
	first = len(e.entries)
	text := keyText(v.Type().Key().Kind())
	for iter := v.MapRange(); iter.Next(); {
		e.entries = append(e.entries, entry{text(iter.Key()), iter.Value()})
	}
	own = e.entries[first:]
	slices.SortFunc(own, func(a, b entry) int { return compareUTF16(a.key, b.key) })
	return first, own
}

func (e *encoder) drop(first int) {
	clear(e.entries[first:])
	e.entries = e.entries[:first]
}

func (p *plan) encodeMap(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	first, own := e.sorted(v)
	dst = append(dst, '{')
	for i, m := range own {
		if i > 0 {
			dst = append(dst, ',')
			if m.key == own[i-1].key {
				return dst, refuse(ErrDuplicate, "")
			}
		}
		var err error
		if dst, err = appendString(dst, m.key); err != nil {
			return dst, under("[*]", err)
		}
		dst = append(dst, ':')
		if dst, err = p.elem.encode(e, dst, m.value); err != nil {
			return dst, under("[*]", err)
		}
	}
	e.drop(first)
	e.leave()
	return append(dst, '}'), nil
}
