package canon

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
)

// Split is what an argument list is known by.
type Split struct {
	// Identity is the canonical JSON array of the arguments' identity parts.
	// It goes into the key.
	Identity []byte
	// Fingerprint is the canonical JSON array of their identity and checked
	// parts: all that must not differ under one key. If nothing is only checked
	// it is the same slice as Identity: read both, change neither.
	Fingerprint []byte
	// Digests has one digest for each member of each argument in Fingerprint, or
	// for the whole argument if it has none or more than 256, sorted by path.
	// Arguments that are null have no digest.
	Digests []FieldDigest
}

// Split canonicalises an argument list. Arguments at the end that are nil or
// equal to their type's zero value are left out, so that a parameter can be added
// later; so are those of which nothing counts.
//
// Besides the errors of [Value], it returns [ErrField] for paths that
// [Fields.Validate] refuses without types, and [ErrAbsent] with the path of an
// identity part that is not there.
func (f Fields) Split(args []any, o ...Option) (Split, error) {
	root, faults := f.rules()
	if len(faults) > 0 {
		return Split{}, errors.Join(faults...)
	}
	opts := newOptions(o)
	s, err := f.split(root, args, opts)
	if err != nil {
		return Split{}, err
	}
	if opts.verify {
		again, err := f.split(root, args, opts)
		if err != nil {
			return Split{}, err
		}
		if !bytes.Equal(s.Identity, again.Identity) || !bytes.Equal(s.Fingerprint, again.Fingerprint) {
			return Split{}, refuse(ErrUnstable, "")
		}
	}
	return s, nil
}

func (f Fields) split(root *rules, args []any, o options) (Split, error) {
	e := newEncoder(o, 0)
	defer e.free()
	identity, fingerprint := make([]form, len(args)), make([]form, len(args))
	same := true
	for i, arg := range args {
		r := root.child(strconv.Itoa(i))
		a, err := splitArgument(e, arg, r, r.over(root.class))
		if err != nil {
			return Split{}, under("["+strconv.Itoa(i)+"]", err)
		}
		identity[i], fingerprint[i] = a.identity, a.fingerprint
		same = same && a.same
	}
	identity, fingerprint = withoutZeros(identity), withoutZeros(fingerprint)
	s := Split{Identity: join(identity)}
	s.Fingerprint = s.Identity
	if !same {
		s.Fingerprint = join(fingerprint)
	}
	if len(s.Identity) > o.maxSize || len(s.Fingerprint) > o.maxSize {
		return Split{}, refuse(ErrSize, "canonical form")
	}
	if err := f.present(identity); err != nil {
		return Split{}, err
	}
	s.Digests = digests(fingerprint)
	return s, nil
}

// argument is one argument, canonicalised twice.
type argument struct {
	identity, fingerprint form
	same                  bool
}

// form is the canonical form of what counts of an argument.
type form struct {
	text []byte // nil if nothing counts
	zero bool   // the same as nothing, at the end of the list
}

// splitArgument canonicalises one argument, whose class is c where r and tags say
// nothing else. The forms are in the encoder's buffer.
func splitArgument(e *encoder, arg any, r *rules, c class) (a argument, err error) {
	if arg == nil {
		null := form{[]byte("null"), true}
		return argument{null, null, true}, nil
	}
	p, err := planOf(reflect.TypeOf(arg))
	if err != nil {
		return a, err
	}
	v := reflect.ValueOf(arg)
	if r == nil && c == identity && !p.tagged {
		// Hopefully there are no tags below either, and all of it counts.
		e.restart()
		text, err := p.encode(e, e.buf, v)
		if err == nil {
			err = e.checkSize(text)
		}
		switch {
		case err != nil && !p.mayTag:
			return a, err
		case err == nil && !e.tagged:
			f := form{text: e.store(text)}
			f.zero = bytes.Equal(f.text, p.zero) || string(f.text) == "null"
			return argument{f, f, true}, nil
		}
	}
	if a.identity, a.same, err = pickForm(e, p, v, r, c, identity); err != nil {
		return a, err
	}
	if a.fingerprint = a.identity; !a.same {
		a.fingerprint, _, err = pickForm(e, p, v, r, c, checked)
	}
	return a, err
}

// restart makes the encoder ready for the next argument, inside of the list.
func (e *encoder) restart() {
	e.base, e.depth, e.pointers, e.tagged = len(e.buf), 1, 0, false
}

// store returns what was appended to the encoder's buffer, and keeps it there.
func (e *encoder) store(buf []byte) []byte {
	from := len(e.buf)
	e.buf = buf
	return buf[from:len(buf):len(buf)]
}

// pickForm returns the form of what is kept, and whether that is all that counts.
func pickForm(e *encoder, p *plan, v reflect.Value, r *rules, c, keep class) (f form, all bool, err error) {
	k := picker{encoder: e, keep: keep}
	e.restart()
	text, kept, err := k.pick(e.buf, p, v, r, c)
	if err == nil {
		err = e.checkSize(text)
	}
	if err != nil || !kept {
		return form{zero: true}, !k.checked, err
	}
	all = !k.checked
	f.text = e.store(text)
	f.zero = string(f.text) == "null" || k.isZero(f.text, p, r, c)
	return f, all, nil
}

// isZero reports whether text is what is kept of the type's zero value. One that has no
// form is no error: then text is that of another value.
func (k *picker) isZero(text []byte, p *plan, r *rules, c class) bool {
	known := &p.zeros[k.keep][c]
	if zero := known.Load(); r == nil && zero != nil {
		return bytes.Equal(text, *zero)
	}
	k.restart()
	zero, _, err := k.pick(k.buf, p, reflect.Zero(p.typ), r, c)
	if err != nil {
		return false
	}
	zero = zero[len(k.buf):]
	if r == nil {
		kept := bytes.Clone(zero)
		known.Store(&kept)
	}
	return bytes.Equal(text, zero)
}

// withoutZeros leaves zeros at the end out.
func withoutZeros(list []form) []form {
	n := len(list)
	for n > 0 && list[n-1].zero {
		n--
	}
	return list[:n]
}

// join makes an array of the forms.
func join(list []form) []byte {
	size := len("[]")
	for _, f := range list {
		size += max(len(f.text), len("null")) + len(",")
	}
	out := append(make([]byte, 0, size), '[')
	for i, f := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if f.text == nil {
			out = append(out, "null"...)
		}
		out = append(out, f.text...)
	}
	return append(out, ']')
}

// present refuses an identity that lacks one of its parts.
func (f Fields) present(identity []form) error {
	for _, text := range f.Identity {
		tokens := parsePointer(text)
		i, _ := parseIndex(tokens[0])
		var part []byte
		if i < len(identity) && identity[i].text != nil && !(len(tokens) == 1 && identity[i].zero) {
			part = lookup(identity[i].text, tokens[1:])
		}
		if part == nil || string(part) == "null" {
			return &Error{Reason: ErrAbsent, Offset: -1, Path: text}
		}
	}
	return nil
}
