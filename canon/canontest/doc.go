// Package canontest keeps the keys of a program's own actions from changing
// unnoticed. A test lists example calls, and a file beside it has their keys:
//
//	func TestKeys(t *testing.T) {
//		canontest.Golden(t, "testdata/keys.tsv",
//			canontest.Example{Name: "refund", Operation: "Refund", Args: []any{Refund{Order: "o-17", Cents: 4999}}},
//		)
//	}
//
// The file is written by
//
//	EFFECTONCE_UPDATE_GOLDEN=1 go test -run '^TestKeys$' ./payments
//
// and belongs under version control. From then on the test fails when a renamed
// field, another tag, a new MarshalJSON method or a renamed operation would give
// calls that were made before another key: their records would not be found
// again, and what they did might be done twice.
//
// # Promises
//
// The file is never written unless that is asked for; a missing file is a failure.
// Each example is canonicalised twice, so that a method that writes a value
// differently each time is found.
//
// Examples are Go values. What a worker makes of raw payloads and of protobuf
// messages is not looked at.
//
// # Concurrency
//
// Tests that use different files may run in parallel.
package canontest
