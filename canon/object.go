package canon

import "math/bits"

func (p *parser) object(i int) (end int, canonical bool, err error) {
	self, err := p.open(object, i)
	if err != nil {
		return i, false, err
	}
	src := p.src
	first := len(p.pending)
	sorted := true
	i, canonical = p.packed(i+1, true)
	if at(src, i) == '}' {
		return i + 1, p.close(self, i+1, canonical), nil
	}
	for {
		name, node := i, len(p.nodes)
		nameEnd, form, err := p.memberName(i)
		if err != nil {
			return i, false, err
		}
		i, canonical = p.packed(nameEnd, canonical && form != otherString)
		if at(src, i) != ':' {
			return i, false, syntax(i, "colon expected")
		}
		i, canonical = p.packed(i+1, canonical)
		end, ok, err := p.value(i)
		if err != nil {
			return i, false, err
		}
		p.nodes[node].setName(name, nameEnd, form)
		if last := len(p.pending) - 1; sorted && last > first {
			sorted = p.before(p.pending[last-1], p.pending[last])
		}
		i, canonical = p.packed(end, canonical && ok)
		switch at(src, i) {
		case '}':
			return p.closeObject(self, first, i+1, sorted, canonical)
		case ',':
			i, canonical = p.packed(i+1, canonical)
		default:
			return i, false, syntax(i, "comma or closing brace expected")
		}
	}
}

// memberName reads a name and puts the member, whose value comes next, on the
// pending ones.
func (p *parser) memberName(i int) (end int, form stringForm, err error) {
	if at(p.src, i) != '"' {
		return i, 0, syntax(i, "member name expected")
	}
	start := i + 1
	w := word(p.src, start)
	n := plainPrefix(w)
	if n == 8 {
		n = plainEnd(p.src, start+8) - start
	} else {
		w &= 1<<(8*n) - 1
	}
	key := nameKey{prefix: bits.ReverseBytes64(w), at: uint32(len(p.nodes))}
	if end = start + n + 1; at(p.src, end-1) != '"' { // not only plain bytes
		if end, form, err = scanString(p.src, i); err != nil {
			return i, 0, err
		}
		name := p.src[start : end-1]
		if form != plainString {
			name, key.escaped = p.unescapedName(p.src[i:end])
		}
		key.prefix = prefixOf(name)
	}
	p.pending = append(p.pending, key)
	return end, form, nil
}

// unescapedName keeps what a name stands for, to sort by.
func (p *parser) unescapedName(quoted []byte) (name []byte, number uint32) {
	start := len(p.scratch)
	p.scratch = unescape(p.scratch, quoted)
	p.names = append(p.names, [2]int{start, len(p.scratch)})
	return p.scratch[start:], uint32(len(p.names))
}

// before reports whether one member comes before another in canonical order.
func (p *parser) before(a, b nameKey) bool {
	return a.prefix < b.prefix || a.prefix == b.prefix && p.compare(a, b) < 0
}

// closeObject sorts the members of an object and refuses equal names.
func (p *parser) closeObject(self, first, end int, sorted, canonical bool) (int, bool, error) {
	own := p.pending[first:]
	if !sorted {
		sortNames(own, p.compare)
		for i := 1; i < len(own); i++ {
			if a, b := own[i-1], own[i]; a.prefix == b.prefix && p.compare(a, b) == 0 {
				again := &p.nodes[max(a.at, b.at)]
				return end, false, refuseAt(ErrDuplicate, int(again.name), "")
			}
		}
	}
	if !sorted || !canonical {
		n := &p.nodes[self]
		n.start = uint32(len(p.order))
		p.order = append(p.order, own...)
		n.end = uint32(len(p.order))
	}
	p.pending = p.pending[:first]
	return end, p.close(self, end, sorted && canonical), nil
}
