package canon

import (
	"bytes"
)

// parser reads one JSON text onto a tape.
type parser struct {
	tape
	options
	pos     int
	depth   int       // of arrays and objects around pos
	pending []nameKey // members of the objects that are not finished
}

// parse reads the whole text, which must be exactly one value. depth is how many
// arrays and objects surround it already.
func (p *parser) parse(src []byte, depth int) error {
	if len(src) > p.maxSize {
		return refuseAt(ErrSize, p.maxSize, "text")
	}
	p.src, p.depth = src, depth
	p.space()
	if _, err := p.value(); err != nil {
		return err
	}
	p.space()
	if p.pos < len(src) {
		return p.syntax("text after the value")
	}
	return nil
}

// value reads one value and reports whether it is canonical as it stands.
func (p *parser) value() (canonical bool, err error) {
	if p.pos >= len(p.src) {
		return false, p.syntax("unexpected end")
	}
	switch c := p.src[p.pos]; c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		end, form, err := scanString(p.src, p.pos)
		if err != nil {
			return false, err
		}
		kind := verbatim
		if form == otherString {
			kind = rewritten
		}
		p.leaf(kind, p.pos, end)
		p.pos = end
		return kind == verbatim, nil
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	default:
		if c != '-' && !isDigit(c) {
			return false, p.syntax("unexpected character")
		}
		return p.number()
	}
}

func (p *parser) literal(word string) (bool, error) {
	end := p.pos + len(word)
	if end > len(p.src) || string(p.src[p.pos:end]) != word {
		return false, p.syntax("unexpected character")
	}
	p.leaf(verbatim, p.pos, end)
	p.pos = end
	return true, nil
}

func (p *parser) number() (bool, error) {
	n, ok := scanNumber(p.src, p.pos)
	if !ok {
		return false, p.syntax("malformed number")
	}
	start := p.pos
	text := p.src[start:n.end]
	if p.isCanonical(text, n) {
		p.leaf(verbatim, start, n.end)
		p.pos = n.end
		return true, nil
	}
	from := len(p.scratch)
	var err error
	if p.scratch, err = p.appendNumber(p.scratch, text, n); err != nil {
		err.(*Error).Offset = start
		return false, err
	}
	p.pos = n.end
	if bytes.Equal(p.scratch[from:], text) {
		p.scratch = p.scratch[:from]
		p.leaf(verbatim, start, n.end)
		return true, nil
	}
	p.leaf(numeral, from, len(p.scratch))
	return false, nil
}

func (p *parser) array() (bool, error) {
	self, err := p.open(array)
	if err != nil {
		return false, err
	}
	canonical := !p.space()
	if p.next(']') {
		return p.close(self, canonical), nil
	}
	for {
		ok, err := p.value()
		if err != nil {
			return false, err
		}
		spaced := p.space()
		canonical = canonical && ok && !spaced
		switch {
		case p.next(']'):
			return p.close(self, canonical), nil
		case !p.next(','):
			return false, p.syntax("comma or closing bracket expected")
		}
		if p.space() {
			canonical = false
		}
	}
}

func (p *parser) object() (bool, error) {
	self, err := p.open(object)
	if err != nil {
		return false, err
	}
	first := len(p.pending)
	sorted := true
	canonical := !p.space()
	if p.next('}') {
		return p.closeObject(self, first, sorted, canonical)
	}
	for {
		form, err := p.memberName()
		if err != nil {
			return false, err
		}
		if last := len(p.pending) - 1; sorted && last > first {
			sorted = p.before(p.pending[last-1], p.pending[last])
		}
		spaced := p.space()
		if !p.next(':') {
			return false, p.syntax("colon expected")
		}
		spaced = p.space() || spaced
		ok, err := p.value()
		if err != nil {
			return false, err
		}
		spaced = p.space() || spaced
		canonical = canonical && ok && !spaced && form != otherString
		switch {
		case p.next('}'):
			return p.closeObject(self, first, sorted, canonical)
		case !p.next(','):
			return false, p.syntax("comma or closing brace expected")
		}
		if p.space() {
			canonical = false
		}
	}
}

// memberName reads a name and puts the member, whose value comes next, on the
// pending ones.
func (p *parser) memberName() (stringForm, error) {
	start := p.pos
	if start >= len(p.src) || p.src[start] != '"' {
		return 0, p.syntax("member name expected")
	}
	end, form, err := scanString(p.src, start)
	if err != nil {
		return 0, err
	}
	m := member{
		offset: uint32(start),
		start:  uint32(start + 1),
		end:    uint32(end - 1),
		value:  uint32(len(p.nodes)),
	}
	if form != plainString {
		m.escaped = true
		m.start = uint32(len(p.scratch))
		p.scratch = unescape(p.scratch, p.src[start:end])
		m.end = uint32(len(p.scratch))
	}
	p.pending = append(p.pending, nameKey{prefixOf(p.name(&m)), uint32(len(p.members))})
	p.members = append(p.members, m)
	p.pos = end
	return form, nil
}

// before reports whether one member comes before another in canonical order.
func (p *parser) before(a, b nameKey) bool {
	return a.prefix < b.prefix || a.prefix == b.prefix && p.compare(a.at, b.at) < 0
}

// closeObject sorts the members of an object and refuses equal names.
func (p *parser) closeObject(self, first int, sorted, canonical bool) (bool, error) {
	own := p.pending[first:]
	if !sorted {
		sortNames(own, p.compare)
		for i := 1; i < len(own); i++ {
			if !p.before(own[i-1], own[i]) {
				again := max(own[i-1].at, own[i].at)
				return false, refuseAt(ErrDuplicate, int(p.members[again].offset), "")
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
	return p.close(self, sorted && canonical), nil
}

// open starts an array or object at pos. Until it is closed, its node remembers
// where its text starts.
func (p *parser) open(kind nodeKind) (self int, err error) {
	if p.depth >= p.maxDepth {
		return 0, refuseAt(ErrDepth, p.pos, "")
	}
	p.depth++
	self = len(p.nodes)
	p.nodes = append(p.nodes, node{kind: kind, next: uint32(p.pos)})
	p.pos++
	return self, nil
}

// close ends the array or object of node self. If it is canonical, one node for
// all of it replaces those below.
func (p *parser) close(self int, canonical bool) bool {
	p.depth--
	n := &p.nodes[self]
	if canonical {
		start := int(n.next)
		p.nodes = p.nodes[:self]
		p.leaf(verbatim, start, p.pos)
		return true
	}
	n.next = uint32(len(p.nodes))
	return false
}

func (p *parser) leaf(kind nodeKind, start, end int) {
	p.nodes = append(p.nodes, node{kind, uint32(start), uint32(end), uint32(len(p.nodes) + 1)})
}

// next skips c if it is the next byte.
func (p *parser) next(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// space skips white space and reports whether there was any.
func (p *parser) space() bool {
	return p.pos < len(p.src) && p.src[p.pos] <= ' ' && p.skipSpace()
}

func (p *parser) skipSpace() bool {
	start := p.pos
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return p.pos > start
		}
	}
	return p.pos > start
}

func (p *parser) syntax(detail string) error { return refuseAt(ErrSyntax, p.pos, detail) }
