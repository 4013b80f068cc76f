package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// Claim implements [store.Store]. A first claim, and a duplicate, is one round trip.
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	r, err := s.owning(ctx, q, store.Release, func(c *call) (store.Record, error) { return s.claim(c, q) })
	return r, failed("claim "+q.Key.String(), err)
}

func (s *Store) claim(c *call, q store.Request) (store.Record, error) {
	first := s.newClaim(c, q)
	if beyond(q.Lease, q.Remaining, q.Retention) {
		first = s.newRead(q.Ref, q.Scheduled, true)
	}
	answer, err := s.do(c, first)
	if err == nil && answer.kind == written {
		r := q.First(answer.now)
		s.recent.add(r, c.version)
		return s.owned(q, r, answer)
	}
	for ; err == nil; answer, err = s.do(c, s.newRead(q.Ref, q.Scheduled, true)) {
		if answer.other != "" {
			if other, still, err := s.other(c, q, answer); still || err != nil {
				return other, err
			}
			continue
		}
		prev, err := answer.of(q.Ref)
		next, changed := q.First(answer.now), true
		switch {
		case errors.Is(err, store.ErrNotFound) && answer.kind != none:
			return store.Record{}, fmt.Errorf("%w: Root is not that of the record: it must be a function of Key", store.ErrInvalid)
		case err != nil && answer.kind != none:
			return store.Record{}, err
		case err == nil:
			next, changed = prev.AfterClaim(q, answer.now)
		}
		if !changed {
			return s.owned(q, next, answer)
		}
		done, err := s.swap(c, prev, next, next.Log(before(prev), store.Claimed, q.Who, ""))
		if err != nil || done.kind == written {
			return s.ownedOr(err, q, next, done)
		}
	}
	return store.Record{}, err
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if err := q.Validate(); err != nil {
		return store.Record{}, err
	}
	r, err := s.owning(ctx, q, store.MarkUnknown, func(c *call) (store.Record, error) { return s.takeOver(c, q, seen) })
	return r, failed("take over "+q.Key.String(), err)
}

func (s *Store) takeOver(c *call, q store.Request, seen store.Record) (store.Record, error) {
	for {
		answer, err := s.do(c, s.newRead(q.Ref, q.Scheduled, true))
		if err != nil {
			return store.Record{}, err
		}
		prev, err := answer.of(q.Ref)
		if err != nil {
			return store.Record{}, err
		}
		if answer.other != "" {
			if other, still, err := s.other(c, q, answer); still || err != nil {
				return other, errors.Join(err, store.ErrConflict)
			}
			continue
		}
		next, changed, err := prev.AfterTakeOver(q, seen, answer.now)
		if err != nil {
			return next, err
		}
		if !changed {
			return s.owned(q, next, answer)
		}
		done, err := s.swap(c, prev, next, next.Log(&prev.Record, store.TookOver, q.Who, ""))
		if err != nil || done.kind == written {
			return s.ownedOr(err, q, next, done)
		}
	}
}

// newClaim makes the script of a first claim: all but its times, which are the
// server's to say.
func (s *Store) newClaim(c *call, q store.Request) *job {
	r := q.First(time.UnixMicro(0))
	fields := encode(r)
	for _, timed := range []string{"created", "lease", "deadline", "expires"} {
		delete(fields, timed)
	}
	retention := ""
	if q.Retention > 0 {
		retention = ofInt(q.Retention.Microseconds())
	}
	args := []any{
		c.version[:], q.Key[:], member(q.Ref), digest(q.Scheduled),
		q.Lease.Microseconds(), q.Remaining.Microseconds(), retention, ofEntryAfterTime(r.Log(nil, store.Claimed, q.Who, "")),
	}
	for name, value := range fields {
		args = append(args, name, value)
	}
	return &job{
		script: claimScript, durable: true, args: args,
		keys: []string{s.record(q.Ref), s.history(q.Ref), s.keys.scheduled, s.keys.leases, s.keys.refs},
	}
}

// other returns the record that q's scheduled activity has claimed, if it still is
// another than q asks for.
func (s *Store) other(c *call, q store.Request, answer reply) (_ store.Record, still bool, err error) {
	var ref store.Ref
	if copy(ref.Key[:], answer.other) != len(answer.other) {
		return store.Record{}, false, fmt.Errorf("%w: the index of scheduled activities", store.ErrCorrupt)
	}
	found, err := s.do(c, s.newRead(ref, store.Digest{}, true))
	if err != nil {
		return store.Record{}, false, err
	}
	r, err := found.row()
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: the record of its scheduled activity, %s, is gone", store.ErrCorrupt, ref.Key)
	}
	if err != nil {
		return store.Record{}, false, err
	}
	r.Key = ref.Key
	return r.Record, r.Scheduled == q.Scheduled, nil
}

// owned returns r to its claimant, unless it would run on the strength of a claim
// that the replicas do not have.
func (s *Store) owned(q store.Request, r store.Record, answer reply) (store.Record, error) {
	if r.State == store.InFlight && r.Token == q.Token {
		if err := s.unconfirmed(answer); err != nil {
			return store.Record{}, err
		}
	}
	return own(r), nil
}

func (s *Store) ownedOr(err error, q store.Request, r store.Record, answer reply) (store.Record, error) {
	if err != nil {
		return store.Record{}, err
	}
	return s.owned(q, r, answer)
}

func before(r row) *store.Record {
	if r.version == (version{}) {
		return nil
	}
	return &r.Record
}

// beyond reports whether a time that far away is more microseconds than a script can
// count: its numbers have 53 bits. Then the state machine does what it would have done.
func beyond(durations ...time.Duration) bool {
	for _, d := range durations {
		if d.Microseconds() > 1<<52 {
			return true
		}
	}
	return false
}
