package canon

import (
	"reflect"
	"strconv"
)

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
	switch p.typ {
	case reflect.TypeFor[map[string]any]():
		p.encode = encodeAnyMap
	case reflect.TypeFor[map[string]string]():
		p.encode = encodeStringMap
	}
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

// entries is a stack of the entries of all maps that are being written.
type entries[V any] struct {
	list []entry[V]
	keys []nameKey
	used int // the longest that list has been
}

// entry is one key of a map, as text, with its value.
type entry[V any] struct {
	key   string
	value V
}

func (s *entries[V]) push(key string, v V) {
	s.keys = append(s.keys, nameKey{prefix: prefixOf([]byte(key)), at: uint32(len(s.list))})
	s.list = append(s.list, entry[V]{key, v})
}

// sorted returns the keys of the entries from first on in canonical order.
func (s *entries[V]) sorted(first int) []nameKey {
	own := s.keys[first:]
	sortNames(own, s.compare)
	return own
}

func (s *entries[V]) compare(a, b nameKey) int {
	return compareUTF16(s.list[a.at].key, s.list[b.at].key)
}

// drop takes the entries from first on off the stack.
func (s *entries[V]) drop(first int) {
	s.used = max(s.used, len(s.list))
	s.list, s.keys = s.list[:first], s.keys[:first]
}

// clear forgets all entries, which hold parts of the caller's value.
func (s *entries[V]) clear() {
	s.drop(0)
	clear(s.list[:s.used])
	s.used = 0
}

// encodeEntries writes the object of the entries from first on, and drops them.
func encodeEntries[V any](e *encoder, dst []byte, s *entries[V], first int,
	encode func(*encoder, []byte, V) ([]byte, error)) (_ []byte, err error) {
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, key := range s.sorted(first) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendString(dst, []byte(s.list[key.at].key)); err != nil {
			return dst, under("[*]", err)
		}
		if dst, err = encode(e, append(dst, ':'), s.list[key.at].value); err != nil {
			return dst, under("[*]", err)
		}
		if err := e.checkSize(dst); err != nil {
			return dst, err
		}
	}
	s.drop(first)
	e.leave()
	return append(dst, '}'), nil
}

// pushMap pushes the entries of a map of whatever type.
func (e *encoder) pushMap(v reflect.Value) (first int) {
	first = len(e.values.list)
	text := keyText(v.Type().Key().Kind())
	for iter := v.MapRange(); iter.Next(); {
		e.values.push(text(iter.Key()), iter.Value())
	}
	return first
}

func (p *plan) encodeMap(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	return encodeEntries(e, dst, &e.values, e.pushMap(v), p.elem.encode)
}

func encodeAnyMap(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return e.anyMap(dst, v.Interface().(map[string]any))
}

func (e *encoder) anyMap(dst []byte, m map[string]any) ([]byte, error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	first := len(e.anys.list)
	for k, v := range m {
		e.anys.push(k, v)
	}
	return encodeEntries(e, dst, &e.anys, first, (*encoder).any)
}

func encodeStringMap(e *encoder, dst []byte, v reflect.Value) ([]byte, error) {
	return e.stringMap(dst, v.Interface().(map[string]string))
}

// stringMap is encodeEntries for the commonest map, without a call for each value.
func (e *encoder) stringMap(dst []byte, m map[string]string) ([]byte, error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	first := len(e.strings.list)
	for k, v := range m {
		e.strings.push(k, v)
	}
	if err := e.enter(dst); err != nil {
		return dst, err
	}
	open := byte('{')
	for _, key := range e.strings.sorted(first) {
		entry := &e.strings.list[key.at]
		var err error
		if dst, err = appendString(append(dst, open), []byte(entry.key)); err != nil {
			return dst, under("[*]", err)
		}
		if dst, err = appendString(append(dst, ':'), []byte(entry.value)); err != nil {
			return dst, under("[*]", err)
		}
		if err := e.checkSize(dst); err != nil {
			return dst, err
		}
		open = ','
	}
	if open == '{' {
		dst = append(dst, open)
	}
	e.strings.drop(first)
	e.leave()
	return append(dst, '}'), nil
}
