package interceptor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/effectonce/effectonce/canon"
)

func (p Policy) fields() canon.Fields {
	return canon.Fields{Identity: p.Identity, Check: p.Check, Ignore: p.Ignore}
}

// pointerFaults returns the faults of Identity, Check and Ignore, each with the option
// in which it stands. types are those of the arguments; nil if they are not known.
func (p Policy) pointerFaults(types []reflect.Type) (faults []error) {
	err := p.fields().Validate(types)
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the faults are joined, not wrapped
		all = joined.Unwrap()
	}
	for _, err := range all {
		var fault *canon.Error
		switch {
		case err == nil:
		case errors.As(err, &fault) && errors.Is(err, canon.ErrField):
			if names := members(types, fault.Path); len(names) > 0 {
				err = fmt.Errorf("%w; the Go type has %s", err, strings.Join(names, ", "))
			}
			faults = append(faults, fmt.Errorf("%s: %w", p.options(fault.Path), err))
		default: // a type that cannot be canonicalised
			faults = append(faults, err)
		}
	}
	return faults
}

// options returns the names of the options that list a pointer.
func (p Policy) options(pointer string) string {
	var names []string
	for _, o := range []struct {
		name string
		list []string
	}{{"Identity", p.Identity}, {"Check", p.Check}, {"Ignore", p.Ignore}} {
		if slices.Contains(o.list, pointer) {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, " and ")
}

// members returns what a pointer could have named instead of the member that is not
// there: the members of the struct where it ends. It is none if it ends elsewhere.
func members(types []reflect.Type, pointer string) []string {
	_, below, _ := strings.Cut(pointer, "/")
	tokens := strings.Split(below, "/")
	index, err := strconv.Atoi(tokens[0])
	if err != nil || index >= len(types) {
		return nil
	}
	t := types[index]
	for _, token := range tokens[1:] {
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case t == nil:
			return nil
		case t.Kind() == reflect.Struct:
			has := jsonMembers(t)
			next, ok := has[unescape.Replace(token)]
			if !ok {
				return slices.Sorted(maps.Keys(has))
			}
			t = next
		case slices.Contains([]reflect.Kind{reflect.Slice, reflect.Array, reflect.Map}, t.Kind()):
			t = t.Elem()
		default:
			return nil
		}
	}
	return nil
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// jsonMembers returns the members of a struct by name.
func jsonMembers(t reflect.Type) map[string]reflect.Type {
	byName := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if f.IsExported() && tag != "-" && (!f.Anonymous || name != "") {
			byName[cmp.Or(name, f.Name)] = f.Type
		}
	}
	return byName
}
