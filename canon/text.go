package canon

// Text appends the canonical form of one JSON text to dst and returns the longer
// slice. It is RFC 8785 with three differences that make it safe for a key:
// integers keep all their digits, numbers that a double would round are refused,
// and so is everything else that two readers could understand differently, such
// as equal member names. White space around the value is allowed.
//
// The result's own canonical form is the result. Text keeps neither slice; dst must
// not overlap json. On an error dst is returned as it was. No memory is allocated
// if dst has room and numbers have at most 32 bytes.
func Text(dst, json []byte, o ...Option) ([]byte, error) {
	opts := newOptions(o)
	return opts.appendText(dst, json, 0)
}

// appendText is Text below depth arrays and objects.
func (o *options) appendText(dst, json []byte, depth int) ([]byte, error) {
	p := parsers.Get().(*parser)
	defer p.free()
	p.options = *o
	if err := p.parse(json, depth); err != nil {
		return dst, err
	}
	form := p.form()
	if len(form) > o.maxSize {
		return dst, refuse(ErrSize, "canonical form")
	}
	return append(dst, form...), nil
}
