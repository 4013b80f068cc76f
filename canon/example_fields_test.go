package canon_test

import (
	"fmt"
	"reflect"

	"github.com/effectonce/effectonce/canon"
)

func ExampleFields() {
	type refund struct {
		Order  string `json:"order"`
		Amount int64  `json:"amount" effectonce:"check"`
		Reason string `json:"reason"`
	}
	fields := canon.Fields{Ignore: []string{"/0/reason"}}
	if err := fields.Validate([]reflect.Type{reflect.TypeFor[refund]()}); err != nil {
		fmt.Println(err)
	}

	first, _ := fields.Split([]any{refund{"o-17", 5000, "broken"}})
	again, _ := fields.Split([]any{refund{"o-17", 9000, "was broken"}})
	fmt.Printf("%s\n%s\n%s\n", first.Identity, first.Fingerprint, again.Fingerprint)
	fmt.Println(canon.Diff(first.Digests, again.Digests))
	// Output:
	// [{"order":"o-17"}]
	// [{"amount":5000,"order":"o-17"}]
	// [{"amount":9000,"order":"o-17"}]
	// [/0/amount]
}

func ExampleCheck() {
	type payment struct {
		To    string
		Price float64
		UUID  string
	}
	for _, f := range canon.Check(reflect.TypeFor[payment]()) {
		fmt.Printf("%s %s\n", f.Path, f.Kind)
	}
	// Output:
	// .Price float
	// .UUID volatile
}
