package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/effectonce/effectonce/store"
)

// diff names the fields in which two records differ, Now aside. Times are compared
// as moments; nil and empty bytes are the same.
func diff(got, want store.Record) string {
	got.Now, want.Now = time.Time{}, time.Time{}
	return diffOf(got, want)
}

// diffOf is diff for any struct.
func diffOf(got, want any) string {
	var b strings.Builder
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if x, y := g.Field(i).Interface(), w.Field(i).Interface(); !alike(x, y) {
			fmt.Fprintf(&b, "\n\t%s:\n\t\t%s\n\t\t%s", g.Type().Field(i).Name, show(x), show(y))
		}
	}
	return b.String()
}

func alike(x, y any) bool {
	switch x := x.(type) {
	case time.Time:
		return x.Equal(y.(time.Time))
	case []byte:
		return string(x) == string(y.([]byte))
	case *store.Outcome:
		return x.Equal(y.(*store.Outcome))
	}
	return reflect.DeepEqual(x, y)
}

func show(x any) string {
	text := fmt.Sprintf("%+v", x)
	if o, ok := x.(*store.Outcome); ok && o != nil {
		text = fmt.Sprintf("%+v", *o)
	}
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return text
}

func typeName[T any]() string { return reflect.TypeFor[T]().String() }
