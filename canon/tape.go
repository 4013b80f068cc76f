package canon

import "sync"

// A tape is one parsed JSON text, flat and in the order of the text. What is
// already canonical, however large, is a single node that spans it, so that
// writing the tape out copies each byte once.
type tape struct {
	src     []byte
	nodes   []node
	members []member // of the finished objects, in canonical order for each
	scratch []byte   // numbers and names that had to be rewritten
}

// node is one JSON value of a tape.
type node struct {
	kind nodeKind
	// start and end are the value's span: in src for verbatim and rewritten, in
	// scratch for number, in members for object.
	start, end uint32
	// next is the index of the node after this one and all below it.
	next uint32
}

type nodeKind uint8

const (
	verbatim  nodeKind = iota // canonical as it stands
	rewritten                 // a string with escapes that are not canonical
	numeral                   // a number whose canonical form is in scratch
	array
	object
)

// member is one name of an object. It points to the node of its value.
type member struct {
	name   []byte // unescaped, without quotes; in src or scratch
	plain  bool   // name needs no escapes
	offset uint32 // of the name in src
	value  uint32
}

// emit appends the canonical form of the node at i.
func (t *tape) emit(dst []byte, i uint32) []byte {
	n := &t.nodes[i]
	switch n.kind {
	case verbatim:
		return append(dst, t.src[n.start:n.end]...)
	case rewritten:
		return rewriteString(dst, t.src[n.start:n.end])
	case numeral:
		return append(dst, t.scratch[n.start:n.end]...)
	case array:
		open := byte('[')
		for j := i + 1; j < n.next; j = t.nodes[j].next {
			dst = t.emit(append(dst, open), j)
			open = ','
		}
		if open == '[' {
			dst = append(dst, open)
		}
		return append(dst, ']')
	}
	open := byte('{')
	for _, m := range t.members[n.start:n.end] {
		dst = append(dst, open, '"')
		if m.plain {
			dst = append(dst, m.name...)
			dst = append(dst, '"', ':')
		} else {
			dst, _ = appendString(dst[:len(dst)-1], m.name) // valid: it was parsed
			dst = append(dst, ':')
		}
		dst = t.emit(dst, m.value)
		open = ','
	}
	if open == '{' {
		dst = append(dst, open)
	}
	return append(dst, '}')
}

// parsers keeps parsers with their buffers for the next text.
var parsers = sync.Pool{New: func() any { return new(parser) }}

func (p *parser) free() {
	clear(p.members) // they hold parts of the caller's text
	clear(p.pending)
	*p = parser{tape: tape{
		nodes:   p.nodes[:0],
		members: p.members[:0],
		scratch: p.scratch[:0],
	}, pending: p.pending[:0]}
	parsers.Put(p)
}
