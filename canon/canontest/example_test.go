package canontest_test

import (
	"fmt"
	"strings"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/canon/canontest"
)

// A program's activity, after somebody gave Order another name.
type refund struct {
	Order  string `json:"order_id"` // it was json:"order"
	Cents  int64  `json:"cents"`
	Reason string `json:"reason"`
}

// This is the body of a TestKeys(t *testing.T).
func ExampleGolden() {
	t := printer{}
	canontest.Golden(t, "testdata/example.tsv", canontest.Example{
		Name:      "refund of an order",
		Operation: "Refund",
		Args:      []any{refund{Order: "o-17", Cents: 4999, Reason: "broken"}},
		Fields:    canon.Fields{Ignore: []string{"/0/reason"}},
	})
	// Output:
	// example "refund of an order": the key changed
	// was eo1_2d8e522b14f5c75b683f2f3067a2c2f240d04e607b93791cd4a0501fd1239fc9
	// is  eo1_c23da3c600afc2a1055290425e758775027d26f0aff2829fe59f09c191f81ff8
	//     identity /0/order: was "o-17", is absent
	//     identity /0/order_id: was absent, is "o-17"
	// Records of calls made before this change are under the old key and are not found any more: what
	// was done already is done again when a duplicate, a reset or another run asks for it.
	// Give the field its old name by a json tag, or the policy the old Operation. If nobody can ask for
	// such a call any more, or doing it twice is no harm, the file may be written again.
	// testdata/example.tsv is written again by:
	//     EFFECTONCE_UPDATE_GOLDEN=1 go test -run '^TestKeys$' .   # in the test's folder
}

// printer stands for a *testing.T.
type printer struct{}

func (printer) Helper()      {}
func (printer) Name() string { return "TestKeys" }
func (printer) Errorf(f string, a ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(f, a...), "\t", "    "))
}
func (printer) Fatalf(f string, a ...any) { printer{}.Errorf(f, a...) }
