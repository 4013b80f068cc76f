package memory

import (
	"bytes"

	"github.com/effectonce/effectonce/store"
)

// own returns r with slices that nobody else holds: neither may a caller change
// what is kept, nor may a later change show in what a caller has. Nil and empty
// outcome data are the same; it comes back as nil.
func own(r store.Record) store.Record {
	r.Fields = clone(r.Fields)
	if o := r.Outcome; o != nil {
		r.Outcome = &store.Outcome{Format: o.Format, Data: clone(o.Data), Context: clone(o.Context)}
	}
	return r
}

func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}
