package dynamodb

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// How much history an item has: every write is paid by the size of the item. When it
// would be more, the older half goes; the last line stays, whatever its size.
const (
	maxLines        = 100
	maxHistoryBytes = 16 << 10
)

// line is an entry of the history, as JSON. What follows the reason is there only if
// it differs from the record before the change; From is there on the first line only.
type line struct {
	At   int64       `json:"at"` // microseconds
	ID   string      `json:"id"` // of the writing
	Verb store.Verb  `json:"verb"`
	To   store.State `json:"to"`
	Who  string      `json:"who,omitempty"`
	Why  string      `json:"why,omitempty"`

	From       *store.State `json:"from,omitempty"`
	Token      *string      `json:"token,omitempty"`
	Fence      *int64       `json:"fence,omitempty"`
	Generation *int         `json:"generation,omitempty"`
	Attempt    *int         `json:"attempt,omitempty"`
	WorkflowID *string      `json:"workflow,omitempty"`
	RunID      *string      `json:"run,omitempty"`
}

var encoding = base64.RawStdEncoding

// id tells the line of this writing from one that says the same.
func (v version) id() string { return encoding.EncodeToString(v[:6]) }

// newLine returns e as it stands behind the line of the change to before.
func newLine(e store.Entry, before *store.Record, id string) line {
	b := store.Record{}
	if before != nil {
		b = *before
	}
	return line{
		At: e.At.UnixMicro(), ID: id, Verb: e.Verb, To: e.To, Who: e.Who, Why: e.Why,
		From:  changed(b.State, e.From),
		Token: changed(encoding.EncodeToString(b.Token[:]), encoding.EncodeToString(e.Token[:])),
		Fence: changed(b.Fence, e.Fence), Generation: changed(b.Generation, e.Generation), Attempt: changed(b.Attempt, e.Attempt),
		WorkflowID: changed(b.WorkflowID, e.WorkflowID), RunID: changed(b.RunID, e.RunID),
	}
}

func changed[T comparable](was, is T) *T {
	if was == is {
		return nil
	}
	return &is
}

// String returns the line as it is kept. Bytes that are not UTF-8 come out as
// replacement characters.
func (l line) String() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		panic(err) // texts and numbers can be encoded
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// readLine reads a line that stands behind the entry before.
func readLine(text string, before store.Entry) (e store.Entry, id string, err error) {
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return e, "", err
	}
	e = before
	e.At, e.Verb, e.From, e.To, e.Who, e.Why = time.UnixMicro(l.At).UTC(), l.Verb, before.To, l.To, l.Who, l.Why
	set(&e.From, l.From)
	set(&e.Fence, l.Fence)
	set(&e.Generation, l.Generation)
	set(&e.Attempt, l.Attempt)
	set(&e.WorkflowID, l.WorkflowID)
	set(&e.RunID, l.RunID)
	if l.Token != nil {
		token, err := encoding.DecodeString(*l.Token)
		if err != nil || len(token) != len(e.Token) {
			return e, "", fmt.Errorf("%q is no token", *l.Token)
		}
		e.Token = store.Token(token)
	}
	return e, l.ID, nil
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// shortened leaves out the older half of a history that is too long.
func shortened(ref store.Ref, lines []string) ([]string, error) {
	bytes := 0
	for _, l := range lines {
		bytes += len(l)
	}
	if len(lines) <= maxLines && bytes <= maxHistoryBytes || len(lines) < 2 {
		return lines, nil
	}
	all, ids, err := entries(ref, lines)
	if err != nil {
		return nil, err
	}
	from := (len(lines) + 1) / 2
	first := newLine(all[from], nil, ids[from])
	return shortened(ref, append([]string{first.String()}, lines[from+1:]...))
}

func entries(ref store.Ref, lines []string) (all []store.Entry, ids []string, err error) {
	last := store.Entry{Ref: ref}
	for i, text := range lines {
		var id string
		if last, id, err = readLine(text, last); err != nil {
			return nil, nil, fmt.Errorf("%w: line %d of its history: %w", store.ErrCorrupt, i+1, err)
		}
		all, ids = append(all, last), append(ids, id)
	}
	return all, ids, nil
}

// wrote reports whether the writing with this version is in the history.
func (r row) wrote(v version) bool {
	for _, text := range r.history {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.ID == v.id() {
			return true
		}
	}
	return false
}

// History implements [store.Historian]. It has the last changes of a record, about
// fifty at least unless texts in it are long: if the first entry has a From, older
// ones have been left out.
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	r, err := s.get(ctx, ref)
	var all []store.Entry
	if err == nil {
		all, _, err = entries(ref, r.history)
	}
	return all, s.failed("history of "+ref.Key.String(), err)
}
