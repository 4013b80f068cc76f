package canon

import (
	"bytes"
)

// parser reads one JSON text onto a tape. Its methods take the offset at which
// something starts and return the offset after it, which is faster than a field
// that is written and read again at each step.
type parser struct {
	tape
	options
	depth   int       // of arrays and objects around the current value
	pending []nameKey // members of the objects that are not finished
}

// parse reads the whole text, which must be exactly one value. depth is how many
// arrays and objects surround it already.
func (p *parser) parse(src []byte, depth int) error {
	if len(src) > p.maxSize {
		return refuseAt(ErrSize, p.maxSize, "text")
	}
	p.src, p.depth = src, depth
	i, _, err := p.value(space(src, 0))
	if err != nil {
		return err
	}
	if i = space(src, i); i < len(src) {
		return syntax(i, "text after the value")
	}
	return nil
}

// value reads one value and reports whether it is canonical as it stands.
func (p *parser) value(i int) (end int, canonical bool, err error) {
	switch c := at(p.src, i); c {
	case '{':
		return p.object(i)
	case '[':
		return p.array(i)
	case '"':
		if end = plainEnd(p.src, i+1); at(p.src, end) != '"' {
			return p.string(i)
		}
		end++
		p.leaf(verbatim, i, end)
		return end, true, nil
	case 't':
		return p.literal(i, "true")
	case 'f':
		return p.literal(i, "false")
	case 'n':
		return p.literal(i, "null")
	default:
		if c == '-' || isDigit(c) {
			return p.number(i)
		}
	}
	if i >= len(p.src) {
		return i, false, syntax(i, "unexpected end")
	}
	return i, false, syntax(i, "unexpected character")
}

// string reads a string with anything in it that is not plain.
func (p *parser) string(i int) (end int, canonical bool, err error) {
	end, form, err := scanString(p.src, i)
	if err != nil {
		return i, false, err
	}
	if form == otherString {
		p.leaf(rewritten, i, end)
		return end, false, nil
	}
	p.leaf(verbatim, i, end)
	return end, true, nil
}

func (p *parser) literal(i int, word string) (end int, canonical bool, err error) {
	end = i + len(word)
	if end > len(p.src) || string(p.src[i:end]) != word {
		return i, false, syntax(i, "unexpected character")
	}
	p.leaf(verbatim, i, end)
	return end, true, nil
}

func (p *parser) number(i int) (end int, canonical bool, err error) {
	// Most are integers of a few digits, and are seen to be canonical at one glance.
	if n := digitPrefix(word(p.src, i)); 0 < n && n < 8 && (p.src[i] != '0' || n == 1) {
		if c := at(p.src, i+n); c != '.' && c|0x20 != 'e' {
			p.leaf(verbatim, i, i+n)
			return i + n, true, nil
		}
	}
	n, ok := scanNumber(p.src, i)
	if !ok {
		return i, false, syntax(i, "malformed number")
	}
	text := p.src[i:n.end]
	if p.isCanonical(text, n) {
		p.leaf(verbatim, i, n.end)
		return n.end, true, nil
	}
	from := len(p.scratch)
	if p.scratch, err = p.appendNumber(p.scratch, text, n); err != nil {
		err.(*Error).Offset = i //nolint:errorlint // appendNumber returns nothing else
		return i, false, err
	}
	if bytes.Equal(p.scratch[from:], text) {
		p.scratch = p.scratch[:from]
		p.leaf(verbatim, i, n.end)
		return n.end, true, nil
	}
	p.leaf(numeral, from, len(p.scratch))
	return n.end, false, nil
}

func (p *parser) array(i int) (end int, canonical bool, err error) {
	self, err := p.open(array, i)
	if err != nil {
		return i, false, err
	}
	src := p.src
	i, canonical = p.packed(i+1, true)
	if at(src, i) == ']' {
		return i + 1, p.close(self, i+1, canonical), nil
	}
	for {
		end, ok, err := p.value(i)
		if err != nil {
			return i, false, err
		}
		i, canonical = p.packed(end, canonical && ok)
		switch at(src, i) {
		case ']':
			return i + 1, p.close(self, i+1, canonical), nil
		case ',':
			i, canonical = p.packed(i+1, canonical)
		default:
			return i, false, syntax(i, "comma or closing bracket expected")
		}
	}
}

// open starts an array or object. Until it is closed, its node remembers where its
// text starts.
func (p *parser) open(kind nodeKind, i int) (self int, err error) {
	if p.depth >= p.maxDepth {
		return 0, refuseAt(ErrDepth, i, "")
	}
	p.depth++
	self = len(p.nodes)
	p.nodes = append(p.nodes, node{kind: kind, next: uint32(i)})
	return self, nil
}

// close ends the array or object of node self. If it is canonical, one node for
// all of it replaces those below.
func (p *parser) close(self, end int, canonical bool) bool {
	p.depth--
	n := &p.nodes[self]
	if canonical {
		start := int(n.next)
		p.nodes = p.nodes[:self]
		p.leaf(verbatim, start, end)
		return true
	}
	n.next = uint32(len(p.nodes))
	return false
}

func (p *parser) leaf(kind nodeKind, start, end int) {
	p.nodes = append(p.nodes, node{kind: kind, start: uint32(start), end: uint32(end), next: uint32(len(p.nodes) + 1)})
}

// packed skips white space. If there was any, what is being read is not canonical.
func (p *parser) packed(i int, canonical bool) (int, bool) {
	if i < len(p.src) && p.src[i] <= ' ' {
		if end := space(p.src, i); end > i {
			return end, false
		}
	}
	return i, canonical
}

// space returns the offset of the first byte from i on that is not white space.
func space(src []byte, i int) int {
	const space = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'
	for i < len(src) && src[i] <= ' ' && space>>src[i]&1 != 0 {
		i++
	}
	return i
}

// at returns the byte at i, or 0, which is no JSON, at the end.
func at(src []byte, i int) byte {
	if i < len(src) {
		return src[i]
	}
	return 0
}

func syntax(i int, detail string) error { return refuseAt(ErrSyntax, i, detail) }
