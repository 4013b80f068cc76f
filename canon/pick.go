package canon

import (
	"bytes"
	"reflect"
	"strconv"
)

// picker appends only the parts of a value that count. It walks as the encoder
// does, and must drop a struct's fields before the encoder's rule for zero values
// is applied: a field that does not count is as if it were zero.
type picker struct {
	*encoder
	keep    class // identity, or checked for both
	steps   int
	checked bool // something is left out that is only checked
}

// keeps is all that the class of a part decides: if it never left out what is only
// checked, nothing would be different if that were kept.
func (k *picker) keeps(c class) bool {
	if c <= k.keep {
		return true
	}
	k.checked = k.checked || c == checked
	return false
}

// pick appends the parts of v that count. r says what the paths say below v; c is
// the class of what they do not mention. If nothing counts, kept is false and
// nothing is appended.
func (k *picker) pick(dst []byte, p *plan, v reflect.Value, r *rules, c class) (out []byte, kept bool, err error) {
	if r == nil && !p.mayTag {
		if k.keeps(c) {
			dst, err = p.encode(k.encoder, dst, v)
		}
		return dst, k.keeps(c), err
	}
	if k.steps++; k.steps > k.maxSize { // shared values, of which nothing counts
		return dst, false, refuse(ErrSize, "value")
	}
	switch p.shape {
	case structShape:
		return k.pickStruct(dst, p, v, r, c)
	case mapShape:
		if !v.IsNil() {
			return k.pickMap(dst, p, v, r, c)
		}
	case listShape:
		if v.Kind() == reflect.Array || !v.IsNil() {
			return k.pickList(dst, p, v, r, c)
		}
	case pointerShape:
		if !v.IsNil() {
			if err := k.follow(); err != nil {
				return dst, false, err
			}
			dst, kept, err = k.pick(dst, p.elem, v.Elem(), r, c)
			k.pointers--
			return dst, kept, err
		}
	case dynamicShape:
		if !v.IsNil() {
			elem, err := planOf(v.Elem().Type())
			if err != nil {
				return dst, false, err
			}
			return k.pick(dst, elem, v.Elem(), r, c)
		}
	case textShape:
		text, err := p.encode(k.encoder, nil, v)
		if err != nil {
			return dst, false, err
		}
		dst, kept = k.pickText(dst, text, r, c)
		return dst, kept, nil
	}
	if k.keeps(c) {
		dst, err = p.encode(k.encoder, dst, v)
	}
	return dst, k.keeps(c), err
}

func (k *picker) pickStruct(dst []byte, p *plan, v reflect.Value, r *rules, c class) (_ []byte, kept bool, err error) {
	if err := k.enter(dst); err != nil {
		return dst, false, err
	}
	start := len(dst)
	dst = append(dst, '{')
	for i := range p.fields {
		f := &p.fields[i]
		member := f.of(v)
		if f.omitEmpty && isEmpty(member) {
			continue
		}
		before := len(dst)
		dst = f.appendName(dst, before == start+1)
		from := len(dst)
		below := r.child(f.name)
		class := f.class
		if class == inherited {
			class = c
		}
		var counts bool
		if dst, counts, err = k.pick(dst, f.plan, member, below, below.over(class)); err != nil {
			return dst, false, under(f.path, err)
		}
		if !counts || bytes.Equal(dst[from:], f.plan.zero) {
			dst = dst[:before]
		}
	}
	k.leave()
	if len(dst) == start+1 && !k.keeps(c) {
		return dst[:start], false, nil
	}
	return append(dst, '}'), true, nil
}

func (k *picker) pickMap(dst []byte, p *plan, v reflect.Value, r *rules, c class) (_ []byte, kept bool, err error) {
	if err := k.enter(dst); err != nil {
		return dst, false, err
	}
	start := len(dst)
	dst = append(dst, '{')
	first := k.pushMap(v)
	for _, key := range k.values.sorted(first) {
		m := k.values.list[key.at]
		before := len(dst)
		if before > start+1 {
			dst = append(dst, ',')
		}
		if dst, err = appendString(dst, []byte(m.key)); err != nil {
			return dst, false, under("[*]", err)
		}
		dst = append(dst, ':')
		below := r.child(m.key)
		var counts bool
		if dst, counts, err = k.pick(dst, p.elem, m.value, below, below.over(c)); err != nil {
			return dst, false, under("[*]", err)
		}
		if !counts {
			dst = dst[:before]
		}
	}
	k.values.drop(first)
	k.leave()
	if len(dst) == start+1 && !k.keeps(c) {
		return dst[:start], false, nil
	}
	return append(dst, '}'), true, nil
}

// pickList puts null in the place of an element that does not count. Of a list
// that does not count itself, nothing is left after the last element that does.
func (k *picker) pickList(dst []byte, p *plan, v reflect.Value, r *rules, c class) (_ []byte, kept bool, err error) {
	if err := k.enter(dst); err != nil {
		return dst, false, err
	}
	start := len(dst)
	end := start // of what is kept
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var below *rules
		index := strconv.Itoa(i)
		if r != nil {
			below = r.child(index)
		}
		var counts bool
		if dst, counts, err = k.pick(dst, p.elem, v.Index(i), below, below.over(c)); err != nil {
			return dst, false, under("["+index+"]", err)
		}
		if counts {
			end = len(dst)
		} else {
			dst = append(dst, "null"...)
		}
	}
	k.leave()
	switch {
	case k.keeps(c):
		return append(dst, ']'), true, nil
	case end > start:
		return append(dst[:end], ']'), true, nil
	}
	return dst[:start], false, nil
}
