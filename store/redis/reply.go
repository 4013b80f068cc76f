package redis

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/effectonce/effectonce/store"
)

// kind is what a script found or did.
type kind string

const (
	written kind = "written" // the change, now or by an earlier try of the same call
	found   kind = "found"   // a record, which stays as it is
	none    kind = "none"    // no record
	gone    kind = "gone"    // no record any more

	// recognised is written, over what the caller remembers.
	recognised kind = "recognised"
)

// reply is the answer of a script.
type reply struct {
	kind  kind
	now   time.Time
	list  []string // the fields of the record, or what was listed
	other string   // the key of the record that the scheduled activity has claimed, if it is another
	acked bool     // as many replicas as wanted have it, and all that was written before
}

var errReply = errors.New("a script gave an answer of another form: is the server a Redis or Valkey?")

func parseReply(value any) (r reply, err error) {
	parts, ok := value.([]any)
	if !ok || len(parts) != 4 {
		return r, errReply
	}
	what, ok1 := parts[0].(string)
	at, ok2 := parts[1].(string)
	list, ok3 := parts[2].([]any)
	other, ok4 := parts[3].(string)
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok1 || !ok2 || !ok3 || !ok4 || err != nil {
		return r, errReply
	}
	r = reply{kind: kind(what), now: time.UnixMicro(micros).UTC(), other: other, list: make([]string, len(list))}
	for i, element := range list {
		if r.list[i], ok = element.(string); !ok {
			return r, errReply
		}
	}
	return r, nil
}

// row returns the record that was found. None is [store.ErrNotFound]; one that was
// there and is no more is [store.ErrCorrupt], for its action must not be run again.
func (r reply) row() (row, error) {
	switch r.kind {
	case none:
		return row{}, store.ErrNotFound
	case gone:
		return row{}, fmt.Errorf("%w: it is gone: evicted, or deleted by hand", store.ErrCorrupt)
	}
	return decode(r.list, r.now)
}
