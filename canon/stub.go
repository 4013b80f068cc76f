package canon

import "reflect"

// Decode reads one JSON text into a T.
func Decode[T any](json []byte, o ...Option) (T, error) { panic("not yet") }

// Check reports what a reader should know about a type.
func Check(t reflect.Type) []Finding { panic("not yet") }

// Finding is one remark of [Check].
type Finding struct{ Path, Kind, Detail string }

// Fields says which parts of an argument list count.
type Fields struct{ Identity, Check, Ignore []string }

// Validate reports every faulty path.
func (f Fields) Validate(types []reflect.Type) error { panic("not yet") }

// Split canonicalises an argument list.
func (f Fields) Split(args []any, o ...Option) (Split, error) { panic("not yet") }

// Split is what an argument list is known by.
type Split struct {
	Identity    []byte
	Fingerprint []byte
	Digests     []FieldDigest
}

// FieldDigest is a short digest of one field, for diagnosis only.
type FieldDigest struct {
	Path string
	Sum  [8]byte
}

// Diff names the paths whose digests differ.
func Diff(a, b []FieldDigest) []string { panic("not yet") }
