package canon

import "strconv"

// pickText appends the parts of a canonical text that count, as pick does for a
// value.
func (k *picker) pickText(dst, text []byte, r *rules, c class) (out []byte, kept bool) {
	start := len(dst)
	switch {
	case r == nil || text[0] != '{' && text[0] != '[':
		if k.keeps(c) {
			dst = append(dst, text...)
		}
		return dst, k.keeps(c)
	case text[0] == '{':
		dst = append(dst, '{')
		for name, value := range members(text) {
			before := len(dst)
			if before > start+1 {
				dst = append(dst, ',')
			}
			dst = append(dst, name...)
			dst = append(dst, ':')
			below := r.child(unquote(name))
			var counts bool
			if dst, counts = k.pickText(dst, value, below, below.over(c)); !counts {
				dst = dst[:before]
			}
		}
		if len(dst) == start+1 && !k.keeps(c) {
			return dst[:start], false
		}
		return append(dst, '}'), true
	}
	dst = append(dst, '[')
	end := start
	for i, value := range elements(text) {
		if i > 0 {
			dst = append(dst, ',')
		}
		below := r.child(strconv.Itoa(i))
		var counts bool
		if dst, counts = k.pickText(dst, value, below, below.over(c)); counts {
			end = len(dst)
		} else {
			dst = append(dst, "null"...)
		}
	}
	switch {
	case k.keeps(c):
		return append(dst, ']'), true
	case end > start:
		return append(dst[:end], ']'), true
	}
	return dst[:start], false
}
