package canon

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// collect returns all fields of a struct and of the structs embedded in it, in
// breadth-first order.
func (c *compiler) collect(t reflect.Type) ([]field, bool) {
	type level struct {
		typ   reflect.Type
		index []int
		class class
	}
	var all []field
	for next := []level{{typ: t}}; len(next) > 0; {
		current := next
		next = nil
		for _, s := range current {
			for i := range s.typ.NumField() {
				sf := s.typ.Field(i)
				f, ok := c.fieldOf(sf)
				if !ok {
					return nil, false
				}
				if f.class == inherited {
					f.class = s.class
				}
				f.index = append(slices.Clone(s.index), i)
				switch {
				case f.name != "":
					all = append(all, f)
				case f.typ != nil:
					next = append(next, level{f.typ, f.index, f.class})
				}
			}
		}
	}
	return all, true
}

// fieldOf reads one field's declaration. The result has no name if the field is
// embedded and its own fields stand for it, and no type if it is not written.
func (c *compiler) fieldOf(sf reflect.StructField) (field, bool) {
	tag := sf.Tag.Get("json")
	embedded := sf.Anonymous && isStruct(sf.Type)
	switch {
	case !sf.IsExported() && !embedded:
		return field{}, true
	case tag == "-":
		return field{}, true
	}
	f := field{typ: sf.Type, path: "." + sf.Name}
	var options string
	f.name, options, _ = strings.Cut(tag, ",")
	if !isName(f.name) {
		f.name = ""
	}
	f.tagged = f.name != ""
	for option := range strings.SplitSeq(options, ",") {
		f.omitEmpty = f.omitEmpty || option == "omitempty"
		f.asString = f.asString || option == "string"
	}
	outer := c.path
	c.path += f.path
	defer func() { c.path = outer }()
	var ok bool
	if f.class, ok = classOf(sf.Tag); !ok {
		c.refuse(sf.Type, `an effectonce tag must be "check" or "ignore"`)
		return f, false
	}
	switch {
	case !embedded:
		if !f.tagged {
			f.name = sf.Name
		}
	case !f.tagged && sf.Type.Kind() == reflect.Pointer:
		c.refuse(sf.Type, "embedded pointers make nil and zero equal: give the field a name")
		return f, false
	case (!f.tagged || !sf.IsExported()) && writesItself(sf.Type):
		c.refuse(sf.Type, "it is embedded and writes itself: give the field a name of its own")
		return f, false
	}
	if f.name != "" {
		f.quoted, _ = appendString([]byte{','}, []byte(f.name))
		f.quoted = append(f.quoted, ':')
	}
	return f, true
}

// writesItself reports whether a type is not written as the struct that it is.
func writesItself(t reflect.Type) bool {
	return hasOwnMethod(t) || isMessage(t) || t == bigFloatTyp || t == reflect.PointerTo(bigFloatTyp)
}

func isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// isName reports whether encoding/json takes s, from a tag, as a name.
func isName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) &&
			!unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

// classOf reads the effectonce tag.
func classOf(tag reflect.StructTag) (class, bool) {
	value, ok := tag.Lookup("effectonce")
	switch {
	case !ok:
		return inherited, true
	case value == "check":
		return checked, true
	case value == "ignore":
		return ignored, true
	}
	return inherited, false
}
