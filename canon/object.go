package canon

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
		end, form, err := p.memberName(i)
		if err != nil {
			return i, false, err
		}
		if last := len(p.pending) - 1; sorted && last > first {
			sorted = p.before(p.pending[last-1], p.pending[last])
		}
		i, canonical = p.packed(end, canonical && form != otherString)
		if at(src, i) != ':' {
			return i, false, syntax(i, "colon expected")
		}
		i, canonical = p.packed(i+1, canonical)
		end, ok, err := p.value(i)
		if err != nil {
			return i, false, err
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
	end, form, err = scanString(p.src, i)
	if err != nil {
		return i, 0, err
	}
	name := p.src[i+1 : end-1]
	start := i + 1
	if form != plainString {
		from := len(p.scratch)
		p.scratch = unescape(p.scratch, p.src[i:end])
		name = p.scratch[from:]
		start = from + inScratch
	}
	p.pending = append(p.pending, nameKey{prefixOf(name), uint32(len(p.members))})
	p.members = append(p.members, member{
		offset: uint32(i + 1),
		start:  uint32(start),
		end:    uint32(start + len(name)),
		value:  uint32(len(p.nodes)),
	})
	return end, form, nil
}

// before reports whether one member comes before another in canonical order.
func (p *parser) before(a, b nameKey) bool {
	return a.prefix < b.prefix || a.prefix == b.prefix && p.compare(a.at, b.at) < 0
}

// closeObject sorts the members of an object and refuses equal names.
func (p *parser) closeObject(self, first, end int, sorted, canonical bool) (int, bool, error) {
	own := p.pending[first:]
	if !sorted {
		sortNames(own, p.compare)
		for i := 1; i < len(own); i++ {
			if !p.before(own[i-1], own[i]) {
				again := max(own[i-1].at, own[i].at)
				return end, false, refuseAt(ErrDuplicate, int(p.members[again].offset)-1, "")
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
