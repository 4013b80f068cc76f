package canon_test

import (
	"encoding/json"
	"fmt"

	"github.com/effectonce/effectonce/canon"
)

func ExampleText() {
	form, err := canon.Text(nil, []byte(`{ "to": "bob", "amount": 50.00, "id": 1746030112345678901 }`))
	fmt.Printf("%s %v\n", form, err)

	_, err = canon.Text(nil, []byte(`{"amount": 1, "amount": 1000}`))
	fmt.Println(err)
	// Output:
	// {"amount":50,"id":1746030112345678901,"to":"bob"} <nil>
	// canon: duplicate member name, at byte 14
}

// Two IDs that differ in the last digit stay apart, or are refused if they have
// become one already.
func ExampleValue() {
	for _, id := range []int64{1746030112345678901, 1746030112345678902} {
		form, _ := canon.Value(nil, map[string]any{"id": id})
		fmt.Printf("%s\n", form)
	}

	var decoded any
	_ = json.Unmarshal([]byte(`{"id": 1746030112345678901}`), &decoded)
	_, err := canon.Value(nil, decoded)
	fmt.Println(err)
	// Output:
	// {"id":1746030112345678901}
	// {"id":1746030112345678902}
	// canon: float above 2^53-1 may already be rounded: decode with json.Number, json.RawMessage, a typed field or canon.Decode, at [*]
}

func ExampleDecode() {
	type refund struct {
		Order  string `json:"order"`
		Amount int64  `json:"amount"`
	}
	r, err := canon.Decode[refund]([]byte(`{"order": "o-17", "amount": 5000}`))
	fmt.Println(r, err)

	_, err = canon.Decode[refund]([]byte(`{"order": "o-17", "AMOUNT": 5000}`))
	fmt.Println(err)
	// Output:
	// {o-17 5000} <nil>
	// canon: member unknown to the Go type, at byte 18
}
