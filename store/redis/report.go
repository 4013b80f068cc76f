package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Report implements [store.Store]. Complete and Fail are one round trip.
func (s *Store) Report(ctx context.Context, held store.Claim, ch store.Change) (store.Record, error) {
	if err := ch.ValidateReport(held); err != nil {
		return store.Record{}, err
	}
	c := newCall(ctx)
	first := s.newRead(held.Ref, store.Digest{}, true)
	claimed, known := s.recent.take(held)
	if ch.Outcome != nil {
		first = s.newFinish(c, held, ch, claimed, known)
	}
	return s.change(c, held.Ref, ch, first, claimed, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterReport(held, ch, now)
	})
}

// Amend implements [store.Store].
func (s *Store) Amend(ctx context.Context, seen store.Record, ch store.Change) (store.Record, error) {
	if err := ch.ValidateAmend(seen); err != nil {
		return store.Record{}, err
	}
	first := s.newRead(seen.Ref, store.Digest{}, true)
	return s.change(newCall(ctx), seen.Ref, ch, first, row{}, func(r store.Record, now time.Time) (store.Record, bool, error) {
		return r.AfterAmend(seen, ch, now)
	})
}

// change does what the state machine says to the record that first finds, or
// recognises as the one that is known.
func (s *Store) change(c *call, ref store.Ref, ch store.Change, first *job, known row,
	after func(store.Record, time.Time) (store.Record, bool, error),
) (store.Record, error) {
	r, err := s.tryChange(c, ref, ch, first, known, after)
	return own(r), failed(fmt.Sprintf("%s %s", ch.Verb, ref.Key), err)
}

func (s *Store) tryChange(c *call, ref store.Ref, ch store.Change, first *job, known row,
	after func(store.Record, time.Time) (store.Record, bool, error),
) (store.Record, error) {
	answer, err := s.do(c, first)
	for ; err == nil; answer, err = s.do(c, s.newRead(ref, store.Digest{}, true)) {
		prev, err := known, error(nil)
		if answer.kind != recognised {
			prev, err = answer.of(ref)
		}
		if err != nil {
			return store.Record{}, err
		}
		next, changed, err := after(prev.Record, answer.now)
		if err != nil {
			return next, err
		}
		if changed && answer.kind != written && answer.kind != recognised { // a script has not done it already
			if answer, err = s.swap(c, prev, next, next.Log(&prev.Record, ch.Verb, ch.Who, ch.Why)); err != nil {
				return store.Record{}, err
			}
			if answer.kind != written {
				continue
			}
		}
		if err := s.unconfirmed(answer); err != nil {
			return store.Record{}, err
		}
		return next, nil
	}
	return store.Record{}, err
}

// newFinish makes the script of an owner's Complete or Fail. It answers with the
// record of before, unless that is the claim which is known: what came of it is for the
// state machine to say.
func (s *Store) newFinish(c *call, held store.Claim, ch store.Change, claimed row, known bool) *job {
	state := store.Completed
	if ch.Verb == store.Fail {
		state = store.Failed
	}
	before, line, expires, kept := "", "", "", ""
	if known {
		next, _, _ := claimed.AfterReport(held, ch, claimed.Now)
		before, line = string(claimed.version[:]), ofEntryAfterTime(next.Log(&claimed.Record, ch.Verb, ch.Who, ch.Why))
		if claimed.Retention > 0 {
			expires, kept = ofTime(claimed.Expires), ofInt((claimed.Retention + time.Microsecond - 1).Microseconds())
		}
	}
	args := []any{
		c.version[:], held.Key[:], member(held.Ref), held.Token[:], ofInt(held.Fence), string(state),
		string(ch.Verb), ch.Who, ch.Why, before, line, expires, kept, "format", ch.Outcome.Format,
	}
	if len(ch.Outcome.Data) > 0 {
		args = append(args, "data", ch.Outcome.Data)
	}
	if len(ch.Outcome.Context) > 0 {
		args = append(args, "context", ch.Outcome.Context)
	}
	return &job{
		script: finishScript, durable: true, args: args,
		keys: []string{s.record(held.Ref), s.history(held.Ref), s.keys.leases, s.keys.expiries, s.keys.refs},
	}
}

// Renew implements [store.Store]. All claims are one round trip, or a few if they are
// very many.
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) ([]store.Claim, error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	c := newCall(ctx)
	jobs := make([]*job, len(held))
	for i, h := range held {
		jobs[i] = s.newRenew(c, h, lease)
	}
	if err := s.all(c, jobs); err != nil {
		return nil, failed("renew", err)
	}
	var lost []store.Claim
	var unknown error // of one claim: no loss, and no reason to let the others go
	for i, h := range held {
		gone, err := s.renewed(c, h, lease, jobs[i])
		if gone {
			lost = append(lost, h)
		}
		if err != nil {
			unknown = errors.Join(unknown, failed("renew "+h.Key.String(), err))
		}
	}
	if unknown != nil {
		return nil, unknown
	}
	return lost, nil
}

// renewed has the state machine see to what the script has left to it.
func (s *Store) renewed(c *call, held store.Claim, lease time.Duration, j *job) (lost bool, err error) {
	answer, err := j.reply, j.err
	for ; err == nil && answer.kind != written; answer, err = s.do(c, s.newRead(held.Ref, store.Digest{}, false)) {
		prev, err := answer.of(held.Ref)
		if errors.Is(err, store.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		next, changed, lost := prev.AfterRenew(held, lease, answer.now)
		if !changed {
			return lost, nil
		}
		entry := store.Entry{}
		if prev.LogRenewal(answer.now) {
			entry = next.Log(&prev.Record, store.Resumed, "", "")
		}
		if done, err := s.swap(c, prev, next, entry); err != nil || done.kind == written {
			return false, err
		}
	}
	return false, err
}

func (s *Store) newRenew(c *call, held store.Claim, lease time.Duration) *job {
	if beyond(lease) {
		return s.newRead(held.Ref, store.Digest{}, false)
	}
	return &job{
		script: renewScript, keys: []string{s.record(held.Ref), s.keys.leases, s.keys.refs},
		args: []any{
			c.version[:], held.Key[:], member(held.Ref), held.Token[:], ofInt(held.Fence), lease.Microseconds(),
		},
	}
}

// own returns r with bytes that nobody else holds.
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
