package canontest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/effectonce/effectonce/canon"
)

// What a difference means, and what may be done.
const (
	otherKey = `Records of calls made before this change are under the old key and are not found any more: what
was done already is done again when a duplicate, a reset or another run asks for it.
Give the field its old name by a json tag, or the policy the old Operation. If nobody can ask for
such a call any more, or doing it twice is no harm, the file may be written again.`
	otherFingerprint = `The key is the same, but what is compared under it differs: a call made before this change that
is asked for again is refused as a mismatch. If nobody can ask for such a call any more, the file
may be written again.`
)

// compare describes every example that is not what it was.
func compare(before, now []entry) (problems []string) {
	for _, n := range now {
		i := slices.IndexFunc(before, func(b entry) bool { return b.name == n.name })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("example %q is new, and its key is not in the file", n.name))
			continue
		}
		b := before[i]
		switch {
		case b.key != n.key:
			problems = append(problems, fmt.Sprintf("example %q: the key changed\nwas %s\nis  %s\n%s%s",
				n.name, b.key, n.key, differences(b, n), otherKey))
		case b != n:
			problems = append(problems, fmt.Sprintf("example %q: the fingerprint changed\n%s%s",
				n.name, differences(b, n), otherFingerprint))
		}
	}
	for _, b := range before {
		if !slices.ContainsFunc(now, func(n entry) bool { return n.name == b.name }) {
			problems = append(problems, fmt.Sprintf("example %q is in the file, but not in the test any more: its key is no longer watched", b.name))
		}
	}
	return problems
}

// differences lists the parts in which two entries differ, one a line.
func differences(b, n entry) string {
	var lines strings.Builder
	line := func(part, was, is string) { fmt.Fprintf(&lines, "\t%s: was %s, is %s\n", part, was, is) }
	if b.operation != n.operation {
		line("operation", strconv.Quote(b.operation), strconv.Quote(n.operation))
	}
	kind, was, is := "identity", b.identity, n.identity
	if was == is {
		kind, was, is = "checked", b.fingerprint, n.fingerprint
	}
	x, errX := canon.Decode[any]([]byte(was))
	y, errY := canon.Decode[any]([]byte(is))
	if errX != nil || errY != nil {
		line(kind, was, is)
		return lines.String()
	}
	diff("", x, y, true, true, func(path, was, is string) { line(kind+" "+path, was, is) })
	return lines.String()
}

// diff reports the parts, by their JSON pointers, in which two decoded values
// differ. A part that is not there is absent.
func diff(path string, a, b any, hasA, hasB bool, report func(path, was, is string)) {
	was, is := text(a, hasA), text(b, hasB)
	if was == is {
		return
	}
	x, y := parts(a), parts(b)
	_, listA := a.([]any)
	_, listB := b.([]any)
	if len(x) == 0 || len(y) == 0 || listA != listB {
		report(path, was, is)
		return
	}
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p, hasP := x[name]
		q, hasQ := y[name]
		diff(path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), p, q, hasP, hasQ, report)
	}
}

// parts returns the members or elements of an object or array.
func parts(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case []any:
		m := map[string]any{}
		for i, element := range v {
			m[strconv.Itoa(i)] = element
		}
		return m
	}
	return nil
}

func text(v any, there bool) string {
	if !there {
		return "absent"
	}
	form, err := canon.Value(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(form)
}
