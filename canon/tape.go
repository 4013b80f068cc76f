package canon

import "sync"

// A tape is one parsed JSON text, flat and in the order of the text. What is
// already canonical, however large, is a single node that spans it, so that
// writing the tape out copies each byte once.
type tape struct {
	src     []byte
	nodes   []node
	members []member  // in the order of the text
	order   []nameKey // members of each finished object, in canonical order
	scratch []byte    // numbers and names that had to be rewritten
}

// node is one JSON value of a tape.
type node struct {
	kind nodeKind
	// start and end are the value's span: in src for verbatim and rewritten, in
	// scratch for numeral, in order for object.
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

// member is one name of an object.
type member struct {
	offset uint32 // of the name in src, after its opening quote
	start  uint32 // of the unescaped name, in scratch if escaped, else at offset
	end    uint32
	value  uint32 // node
}

// escaped reports whether the name had escapes, canonical or not, and so sorts by
// what they stand for. Then start and end are offsets in scratch, plus inScratch.
func (m *member) escaped() bool { return m.start >= inScratch }

// inScratch is above every offset in a text.
const inScratch = 1 << 30

// name returns the unescaped name of a member.
func (t *tape) name(m *member) []byte {
	if m.escaped() {
		return t.scratch[m.start-inScratch : m.end-inScratch]
	}
	return t.src[m.start:m.end]
}

// compare orders two members by name.
func (t *tape) compare(a, b uint32) int {
	return compareUTF16(t.name(&t.members[a]), t.name(&t.members[b]))
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
		for j := i + 1; j < n.next; {
			dst = append(dst, open)
			open = ','
			if v := &t.nodes[j]; v.kind == verbatim {
				dst = append(dst, t.src[v.start:v.end]...)
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
		m := &t.members[key.at]
		v := &t.nodes[m.value]
		dst = append(dst, open)
		open = ','
		switch {
		case m.escaped():
			dst, _ = appendString(dst, t.name(m)) // valid: it was parsed
		case v.kind == verbatim && v.start == m.end+2: // there is only the colon between them
			dst = append(dst, t.src[m.start-1:v.end]...)
			continue
		default:
			dst = append(dst, t.src[m.start-1:m.end+1]...)
		}
		dst = append(dst, ':')
		if v.kind == verbatim {
			dst = append(dst, t.src[v.start:v.end]...)
			continue
		}
		dst = t.emit(dst, m.value)
	}
	if open == '{' {
		dst = append(dst, open)
	}
	return append(dst, '}')
}

// parsers keeps parsers with their buffers for the next text.
var parsers = sync.Pool{New: func() any { return new(parser) }}

func (p *parser) free() {
	p.src = nil
	p.nodes, p.members, p.order = p.nodes[:0], p.members[:0], p.order[:0]
	p.scratch, p.pending = p.scratch[:0], p.pending[:0]
	parsers.Put(p)
}
