package canon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"strconv"
)

// Split is what an argument list is known by.
type Split struct {
	// Identity is the canonical JSON array of the arguments' identity parts.
	// It goes into the key.
	Identity []byte
	// Fingerprint is the canonical JSON array of their identity and checked
	// parts: all that must not differ under one key.
	Fingerprint []byte
	// Digests has one digest for each member of each argument in Fingerprint, or
	// for the whole argument if it has no members, sorted by path.
	Digests []FieldDigest
}

// FieldDigest stands for one part of a fingerprint, so that a difference can be
// named without keeping the value. It is cut short: for diagnosis, never for
// identity.
type FieldDigest struct {
	// Path is an RFC 6901 pointer into the argument list, such as "/0/amount".
	Path string
	// Sum is the start of the SHA-256 of the part's canonical form.
	Sum [8]byte
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
	parts := make([]argument, len(args))
	for i, arg := range args {
		r := root.child(strconv.Itoa(i))
		a, err := splitArgument(arg, r, r.over(root.class), o)
		if err != nil {
			return Split{}, under("["+strconv.Itoa(i)+"]", err)
		}
		parts[i] = a
	}
	s := Split{
		Identity:    join(parts, func(a *argument) *form { return &a.identity }),
		Fingerprint: join(parts, func(a *argument) *form { return &a.fingerprint }),
	}
	if len(s.Identity) > o.maxSize || len(s.Fingerprint) > o.maxSize {
		return Split{}, refuse(ErrSize, "canonical form")
	}
	if err := f.present(parts, s.Identity); err != nil {
		return Split{}, err
	}
	s.Digests = digests(s.Fingerprint)
	return s, nil
}

// argument is one argument, canonicalised twice.
type argument struct {
	identity, fingerprint form
}

// form is the canonical form of what counts of an argument.
type form struct {
	text []byte // nil if nothing counts
	zero bool   // the same as nothing, at the end of the list
}

// splitArgument canonicalises one argument, whose class is c where r and tags say
// nothing else.
func splitArgument(arg any, r *rules, c class, o options) (a argument, err error) {
	e := newEncoder(o, 0)
	defer e.free()
	e.depth = 1 // the list
	if arg == nil {
		a.identity = form{[]byte("null"), true}
		a.fingerprint = a.identity
		return a, nil
	}
	p, err := planOf(reflect.TypeOf(arg))
	if err != nil {
		return a, err
	}
	v := reflect.ValueOf(arg)
	if r == nil && c == identity {
		// Hopefully there are no tags either, and the two are one.
		text, err := p.encode(e, nil, v)
		if err == nil {
			err = e.checkSize(text)
		}
		if err != nil {
			return a, err
		}
		if !e.tagged {
			a.identity = form{text, bytes.Equal(text, p.zero) || string(text) == "null"}
			a.fingerprint = a.identity
			return a, nil
		}
	}
	if a.identity, err = pickForm(e, p, v, r, c, identity); err != nil {
		return a, err
	}
	a.fingerprint, err = pickForm(e, p, v, r, c, checked)
	return a, err
}

func pickForm(e *encoder, p *plan, v reflect.Value, r *rules, c, keep class) (form, error) {
	k := picker{encoder: e, keep: keep}
	text, kept, err := k.pick(nil, p, v, r, c)
	if err == nil {
		err = e.checkSize(text)
	}
	if err != nil || !kept {
		return form{zero: true}, err
	}
	// A zero value that has no form is no error: then v is not zero.
	depth, pointers := e.depth, e.pointers
	zero, _, err := k.pick(nil, p, reflect.Zero(p.typ), r, c)
	e.depth, e.pointers = depth, pointers
	return form{text, string(text) == "null" || err == nil && bytes.Equal(text, zero)}, nil
}

// join makes the array of the arguments' forms, without zeros at the end.
func join(parts []argument, of func(*argument) *form) []byte {
	n, size := len(parts), 2
	for n > 0 && of(&parts[n-1]).zero {
		n--
	}
	for i := range n {
		size += len(of(&parts[i]).text) + len("null,")
	}
	out := append(make([]byte, 0, size), '[')
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if text := of(&parts[i]).text; text != nil {
			out = append(out, text...)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, ']')
}

// present refuses an identity that lacks one of its parts.
func (f Fields) present(parts []argument, identity []byte) error {
	for _, text := range f.Identity {
		tokens := parsePointer(text)
		part, ok := lookup(identity, tokens)
		if ok && len(tokens) == 1 {
			i, _ := parseIndex(tokens[0])
			ok = !parts[i].identity.zero
		}
		if !ok || string(part) == "null" {
			return &Error{Reason: ErrAbsent, Offset: -1, Path: text}
		}
	}
	return nil
}

// digests takes a fingerprint apart.
func digests(fingerprint []byte) []FieldDigest {
	var all []FieldDigest
	add := func(path string, part []byte) {
		sum := sha256.Sum256(part)
		all = append(all, FieldDigest{path, [8]byte(sum[:8])})
	}
	for i, arg := range elements(fingerprint) {
		path := "/" + strconv.Itoa(i)
		switch {
		case string(arg) == "null":
			// Nothing, whether or not it stands before something.
		case arg[0] == '{' && len(arg) > len("{}"):
			for name, value := range members(arg) {
				add(path+"/"+escapePointer(string(unescape(nil, name))), value)
			}
		default:
			add(path, arg)
		}
	}
	slices.SortFunc(all, func(a, b FieldDigest) int { return compareUTF16(a.Path, b.Path) })
	return all
}

// Diff names the paths whose digests differ or that only one side has. Both sides
// must be sorted by path, as [Fields.Split] returns them.
func Diff(a, b []FieldDigest) []string {
	var paths []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && compareUTF16(a[0].Path, b[0].Path) < 0:
			paths = append(paths, a[0].Path)
			a = a[1:]
		case len(a) == 0 || a[0].Path != b[0].Path:
			paths = append(paths, b[0].Path)
			b = b[1:]
		default:
			if a[0].Sum != b[0].Sum {
				paths = append(paths, a[0].Path)
			}
			a, b = a[1:], b[1:]
		}
	}
	return paths
}
