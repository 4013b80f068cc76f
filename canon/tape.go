package canon

import (
	"slices"
	"sync"
)

// A tape is one parsed JSON text, flat and in the order of the text. What is
// already canonical, however large, is a single node that spans it, so that
// writing the tape out copies each byte once.
type tape struct {
	src     []byte
	nodes   []node
	order   []nameKey // members of each finished object, in canonical order
	scratch []byte    // numbers and names that had to be rewritten
	names   [][2]int  // where the unescaped names stand in scratch
	out     []byte    // the canonical form
}

// node is one JSON value of a tape, and the name that it has in an object.
type node struct {
	kind nodeKind
	// rename is set if the name has escapes that are not canonical.
	rename bool
	// name and nameEnd are the span of the name in src, quotes included.
	name, nameEnd uint32
	// start and end are the value's span: in src for verbatim and rewritten, in
	// scratch for numeral, in order for object.
	start, end uint32
	// next is the index of the node after this one and all below it.
	next uint32
}

func (n *node) setName(start, end int, form stringForm) {
	n.name, n.nameEnd, n.rename = uint32(start), uint32(end), form == otherString
}

type nodeKind uint8

const (
	verbatim  nodeKind = iota // canonical as it stands
	rewritten                 // a string with escapes that are not canonical
	numeral                   // a number whose canonical form is in scratch
	array
	object
)

// name returns the unescaped name of a member.
func (t *tape) name(k nameKey) []byte {
	if k.escaped > 0 {
		span := t.names[k.escaped-1]
		return t.scratch[span[0]:span[1]]
	}
	n := &t.nodes[k.at]
	return t.src[n.name+1 : n.nameEnd-1]
}

// compare orders two members by name.
func (t *tape) compare(a, b nameKey) int { return compareUTF16(t.name(a), t.name(b)) }

// form returns the canonical form of the whole tape. It is valid until the tape is
// used again.
func (t *tape) form() []byte {
	if n := &t.nodes[0]; n.kind == verbatim {
		return t.src[n.start:n.end]
	}
	// No string becomes longer, and rewritten numbers are in scratch.
	t.out = slices.Grow(t.out[:0], len(t.src)+len(t.scratch)+len(span{}))
	t.out = t.emit(t.out, 0)
	return t.out
}

// emit appends the canonical form of the node at i.
func (t *tape) emit(dst []byte, i uint32) []byte {
	n := &t.nodes[i]
	switch n.kind {
	case verbatim:
		return appendSpan(dst, t.src, n.start, n.end)
	case rewritten:
		return rewriteString(dst, t.src[n.start:n.end])
	case numeral:
		return appendSpan(dst, t.scratch, n.start, n.end)
	case array:
		open := byte('[')
		for j := i + 1; j < n.next; {
			dst = append(dst, open)
			open = ','
			if v := &t.nodes[j]; v.kind == verbatim {
				dst = appendSpan(dst, t.src, v.start, v.end)
				j++
				continue
			}
			dst = t.emit(dst, j)
			j = t.nodes[j].next
		}
		if open == '[' {
			dst = append(dst, open)
		}
		return append(dst, ']')
	}
	open := byte('{')
	for _, key := range t.order[n.start:n.end] {
		v := &t.nodes[key.at]
		dst = append(dst, open)
		open = ','
		switch {
		case v.rename:
			dst = rewriteString(dst, t.src[v.name:v.nameEnd])
		case v.kind == verbatim && v.start == v.nameEnd+1: // there is only the colon between them
			dst = appendSpan(dst, t.src, v.name, v.end)
			continue
		default:
			dst = appendSpan(dst, t.src, v.name, v.nameEnd)
		}
		dst = append(dst, ':')
		if v.kind == verbatim {
			dst = appendSpan(dst, t.src, v.start, v.end)
			continue
		}
		dst = t.emit(dst, key.at)
	}
	if open == '{' {
		dst = append(dst, open)
	}
	return append(dst, '}')
}

// span is what is copied at once, because most names and values are not longer.
type span [16]byte

// appendSpan appends src[start:end]. If it is short, and there is room, the bytes
// behind it are copied too.
func appendSpan(dst, src []byte, start, end uint32) []byte {
	n := len(dst)
	length := int(end - start)
	if length <= len(span{}) && n+len(span{}) <= cap(dst) && int(start)+len(span{}) <= len(src) {
		*(*span)(dst[n : n+len(span{})]) = span(src[start:])
		return dst[:n+length]
	}
	return append(dst, src[start:end]...)
}

// parsers keeps parsers with their buffers for the next text.
var parsers = sync.Pool{New: func() any { return new(parser) }}

func (p *parser) free() {
	p.src = nil
	p.nodes, p.order, p.pending = p.nodes[:0], p.order[:0], p.pending[:0]
	p.scratch, p.names = p.scratch[:0], p.names[:0]
	parsers.Put(p)
}
