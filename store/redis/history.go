package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/effectonce/effectonce/store"
)

// A line of the history has what changed: time, verb, states, generation, token, who
// and why. What changes with a claim only is on the line of the claim: fence, attempt,
// workflow and run.

func ofEntry(e store.Entry) string { return texts(ofTime(e.At)) + ofEntryAfterTime(e) }

func ofEntryAfterTime(e store.Entry) string {
	token := ""
	if e.Token != (store.Token{}) {
		token = string(e.Token[:])
	}
	line := texts(string(e.Verb), string(e.From), string(e.To), strconv.Itoa(e.Generation), token, e.Who, e.Why)
	if claims(e.Verb) {
		line += texts(ofInt(e.Fence), strconv.Itoa(e.Attempt), e.WorkflowID, e.RunID)
	}
	return line
}

func claims(v store.Verb) bool { return v == store.Claimed || v == store.TookOver }

// History implements [store.Historian].
func (s *Store) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	all, err := s.entries(newCall(ctx), ref)
	return all, failed("history of "+ref.Key.String(), err)
}

func (s *Store) entries(c *call, ref store.Ref) (all []store.Entry, err error) {
	if _, err := s.read(c, ref); err != nil {
		return nil, err
	}
	answer, err := s.do(c, &job{script: historyScript, keys: []string{s.history(ref)}})
	if err != nil {
		return nil, err
	}
	last := store.Entry{Ref: ref}
	for i, line := range answer.list {
		if last, err = toEntry(line, last); err != nil {
			return nil, fmt.Errorf("%w: line %d of its history: %w", store.ErrCorrupt, i+1, err)
		}
		all = append(all, last)
	}
	return all, nil
}

// toEntry reads a line that comes after the entry before.
func toEntry(line string, before store.Entry) (e store.Entry, err error) {
	e = before
	var parts []string
	for rest := line; rest != ""; {
		var part string
		if part, rest, err = cut(rest); err != nil {
			return e, err
		}
		parts = append(parts, part)
	}
	f := fields{of: map[string]string{}}
	for i, name := range []string{"at", "verb", "from", "to", "generation", "token", "who", "why", "fence", "attempt", "workflow", "run"} {
		if i < len(parts) && (name != "token" || parts[i] != "") {
			f.of[name] = parts[i]
		}
	}
	e.Verb, e.From, e.To = store.Verb(f.of["verb"]), store.State(f.of["from"]), store.State(f.of["to"])
	want := 8
	if claims(e.Verb) {
		want = 12
		e.Fence, e.Attempt = f.int("fence"), int(f.int("attempt"))
		e.WorkflowID, e.RunID = f.of["workflow"], f.of["run"]
	}
	if len(parts) != want {
		return e, fmt.Errorf("it has %d parts, not %d", len(parts), want)
	}
	e.At, e.Generation = time.UnixMicro(f.int("at")).UTC(), int(f.int("generation"))
	e.Who, e.Why, e.Token = f.of["who"], f.of["why"], store.Token{}
	f.bytes("token", e.Token[:])
	return e, f.wrong
}
