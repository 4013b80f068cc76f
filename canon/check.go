package canon

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Finding is one remark of [Check] about a type.
type Finding struct {
	// Path is the Go path below the type; empty for the type itself.
	Path string
	// Kind is one of the Finding constants.
	Kind string
	// Detail is a sentence for a human.
	Detail string
}

// What [Check] finds. Only FindingRefused is an error.
const (
	// FindingRefused: the type has no canonical form, as [Value] would say.
	FindingRefused = "refused"
	// FindingFloat: a float; if it is money, it is better an integer or a string.
	FindingFloat = "float"
	// FindingUnexported: an unexported field does not count.
	FindingUnexported = "unexported"
	// FindingHidden: a field with json:"-" does not count.
	FindingHidden = "hidden"
	// FindingTrusted: the type writes itself, and nobody can verify that equal
	// values are written alike, or different ones differently. See [Verify].
	FindingTrusted = "trusted"
	// FindingDynamic: an interface; what it holds is judged at run time only.
	FindingDynamic = "dynamic"
	// FindingVolatile: an identity field whose name sounds as if it were new for
	// every attempt, which would make a retry another action.
	FindingVolatile = "volatile"
)

// Check reports what a reader should know about a type before its values go into
// keys, sorted by path. A nil type has no findings. The parts of a struct type are
// reported where it is met first.
func Check(t reflect.Type) []Finding {
	if t == nil {
		return nil
	}
	c := compiler{made: map[reflect.Type]*plan{}, afresh: true}
	k := checker{seen: map[*plan]bool{}}
	root := c.plan(t)
	for _, fault := range c.faults {
		k.find(fault.Path, FindingRefused, fault.Type.String()+": "+fault.Why)
	}
	k.plan("", root)
	slices.SortFunc(k.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return k.findings
}

type checker struct {
	findings []Finding
	seen     map[*plan]bool
}

func (k *checker) find(path, kind, detail string) {
	k.findings = append(k.findings, Finding{path, kind, detail})
}

func (k *checker) plan(path string, p *plan) {
	if p.own != "" {
		k.find(path, FindingTrusted, p.typ.String()+" writes itself by "+p.own)
		return
	}
	switch p.shape {
	case dynamicShape:
		k.find(path, FindingDynamic, "the value is judged at run time only")
	case pointerShape:
		k.plan(path, p.elem)
	case listShape:
		k.plan(path+"[]", p.elem)
	case mapShape:
		k.plan(path+"[*]", p.elem)
	case structShape:
		if !k.seen[p] {
			k.seen[p] = true
			k.structure(path, p)
		}
	case leafShape:
		if kind := p.typ.Kind(); kind == reflect.Float32 || kind == reflect.Float64 {
			k.find(path, FindingFloat, "use an integer of the smallest unit, or a string, for money")
		}
	}
}

func (k *checker) structure(path string, p *plan) {
	for _, sf := range reflect.VisibleFields(p.typ) {
		switch {
		case sf.Anonymous && isStruct(sf.Type):
		case !sf.IsExported():
			k.find(path+"."+sf.Name, FindingUnexported, "the field does not count")
		case sf.Tag.Get("json") == "-":
			k.find(path+"."+sf.Name, FindingHidden, `the field does not count: json:"-"`)
		}
	}
	for _, f := range p.fields {
		if f.class != ignored && f.class != checked && isVolatile(f.name) {
			k.find(path+f.path, FindingVolatile, "if it is new for every attempt, "+
				`tag it effectonce:"ignore"`)
		}
		k.plan(path+f.path, f.plan)
	}
}

// isVolatile reports whether a name sounds like something made anew each time.
func isVolatile(name string) bool {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)) {
	case "toolcallid", "callid", "uuid", "guid", "nonce", "timestamp", "now", "requestid",
		"traceid", "spanid", "traceparent", "correlationid", "attempt", "random", "seed":
		return true
	}
	return false
}
