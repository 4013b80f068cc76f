package canon

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
)

// Fields says which parts of an argument list count, by RFC 6901 pointers into
// the list: "/0" is the first argument, "/0/note" a member of it, "/1/2" the
// third element of the second. The zero value counts everything as identity.
//
// Identity parts make two actions different; checked parts must not differ
// between two calls of one action; ignored parts do not matter. The innermost
// statement wins, and a path wins over a struct tag at the same place:
//
//	type Refund struct {
//		Order  string
//		Amount int64
//		Reason string `effectonce:"check"`
//		Trace  string `effectonce:"ignore"`
//	}
//
// A part that does not count is as if it were absent: a member disappears, and a
// struct left without members is equal to its zero value; an array element
// becomes null, so that the others keep their places.
type Fields struct {
	// Identity, if not empty, lists all that is identity: the rest is ignored,
	// unless it is listed in Check or tagged. Each path must be there in every
	// call, neither null nor a zero argument or struct field: [ErrAbsent]. Use a
	// pointer for a field that may well be zero.
	Identity []string
	// Check lists what is checked.
	Check []string
	// Ignore lists what is ignored.
	Ignore []string
}

// Validate reports every path that is malformed, that no value of the argument
// types can have, or that is equal to or below another path. Types may be nil if
// they are not known, and so may each of them.
//
// All faults are joined into one error. Each is an [*Error] with the path and
// [ErrField] as its reason, or the [*TypeError] of an argument type.
func (f Fields) Validate(types []reflect.Type) error {
	_, faults := f.rules()
	if types != nil {
		for _, p := range f.paths() {
			if p.tokens == nil {
				continue // reported as malformed
			}
			if err := p.checkTypes(types); err != nil {
				faults = append(faults, err)
			}
		}
	}
	return errors.Join(faults...)
}

// class is how a part of the arguments counts.
type class uint8

const (
	inherited class = iota // as what is around it
	identity
	checked
	ignored
)

// path is one pointer of Fields.
type path struct {
	text   string
	tokens []string // nil if malformed
	class  class
}

func (f Fields) paths() []path {
	var all []path
	add := func(list []string, c class) {
		for _, text := range list {
			all = append(all, path{text, parsePointer(text), c})
		}
	}
	add(f.Identity, identity)
	add(f.Check, checked)
	add(f.Ignore, ignored)
	return all
}

func (p path) fault(detail string) error {
	return &Error{Reason: ErrField, Offset: -1, Path: p.text, Detail: detail}
}

// checkTypes follows the path through the argument types.
func (p path) checkTypes(types []reflect.Type) error {
	i, _ := parseIndex(p.tokens[0])
	switch {
	case i >= len(types):
		return p.fault("there are only " + strconv.Itoa(len(types)) + " arguments")
	case types[i] == nil:
		return nil
	}
	at, err := planOf(types[i])
	if err != nil {
		return under("["+p.tokens[0]+"]", err)
	}
	for _, token := range p.tokens[1:] {
		for at.shape == pointerShape {
			at = at.elem
		}
		switch at.shape {
		case dynamicShape, textShape:
			return nil
		case structShape:
			i := slices.IndexFunc(at.fields, func(f field) bool { return f.name == token })
			if i < 0 {
				return p.fault(at.typ.String() + " has no such member")
			}
			at = at.fields[i].plan
		case mapShape:
			if !isKey(at.typ.Key().Kind(), token) {
				return p.fault(at.typ.String() + " has no such keys")
			}
			at = at.elem
		case listShape:
			i, ok := parseIndex(token)
			if !ok || at.typ.Kind() == reflect.Array && i >= at.typ.Len() {
				return p.fault(at.typ.String() + " has no such element")
			}
			at = at.elem
		default:
			return p.fault(at.typ.String() + " has no parts")
		}
	}
	return nil
}

// isKey reports whether token can be the text of a map key.
func isKey(kind reflect.Kind, token string) bool {
	if kind == reflect.String {
		return true
	}
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) == token
	}
	n, err := strconv.ParseUint(token, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == token
}

// rules is a tree of paths.
type rules struct {
	class class // inherited if no path ends here
	next  map[string]*rules
}

// child returns what the paths say about a part, or nil.
func (r *rules) child(token string) *rules {
	if r == nil {
		return nil
	}
	return r.next[token]
}

// over returns the class of a part: its own, or else the one around it.
func (r *rules) over(around class) class {
	if r == nil {
		return around
	}
	return cmp.Or(r.class, around)
}

// rules makes the tree. The root's class is that of everything without a path.
func (f Fields) rules() (*rules, []error) {
	root := &rules{class: identity}
	if len(f.Identity) > 0 {
		root.class = ignored
	}
	var faults []error
	for _, p := range f.paths() {
		if p.tokens == nil {
			faults = append(faults, p.fault(`not a pointer such as "/0/name"`))
			continue
		}
		if !root.add(p) {
			faults = append(faults, p.fault("equal to, above or below another path"))
		}
	}
	return root, faults
}

// add puts a path into the tree, unless it is equal to, above or below another.
func (r *rules) add(p path) bool {
	for _, token := range p.tokens {
		next := r.next[token]
		if next == nil {
			if r.next == nil {
				r.next = map[string]*rules{}
			}
			next = &rules{}
			r.next[token] = next
		}
		if next.class != inherited {
			return false
		}
		r = next
	}
	if r.next != nil {
		return false
	}
	r.class = p.class
	return true
}
