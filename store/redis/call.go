package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/store"
)

// call is one call of a method: some scripts, one after the other.
type call struct {
	ctx     context.Context
	version version // of whatever it writes
	left    *job    // what was under way when the caller left
}

func newCall(ctx context.Context) *call {
	c := &call{ctx: ctx}
	rand.Read(c.version[:]) // never fails: see crypto/rand
	return c
}

// do runs a script. A script that has been sent runs to its end when the caller
// leaves; one that still waits is withdrawn.
func (s *Store) do(c *call, j *job) (reply, error) {
	if err := s.all(c, []*job{j}); err != nil {
		return reply{}, err
	}
	return j.reply, j.err
}

// all runs scripts at once, and returns an error if the caller left before the last
// answer.
func (s *Store) all(c *call, jobs []*job) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	for _, j := range jobs {
		j.done = make(chan struct{})
	}
	if err := s.line.add(jobs...); err != nil {
		return err
	}
	for i, j := range jobs {
		select {
		case <-j.done:
			continue
		case <-c.ctx.Done():
		}
		for _, j := range jobs[i:] {
			if !s.line.leave(j) {
				c.left = j
			}
		}
		return context.Cause(c.ctx)
	}
	return nil
}

func (s *Store) record(ref store.Ref) string  { return s.keys.record + ref.Key.String() }
func (s *Store) history(ref store.Ref) string { return s.keys.history + ref.Key.String() }

// member is how a ref stands in the index of all: in the order of refs.
func member(ref store.Ref) string { return string(ref.Root[:]) + string(ref.Key[:]) }

func digest(d store.Digest) string {
	if d == (store.Digest{}) {
		return ""
	}
	return string(d[:])
}

func (s *Store) newRead(ref store.Ref, scheduled store.Digest, durable bool) *job {
	return &job{
		script: readScript, durable: durable,
		keys: []string{s.record(ref), s.keys.scheduled, s.keys.refs},
		args: []any{ref.Key[:], member(ref), digest(scheduled)},
	}
}

// read returns the record of ref as it is, or [store.ErrNotFound].
func (s *Store) read(c *call, ref store.Ref) (row, error) {
	r, err := s.do(c, s.newRead(ref, store.Digest{}, false))
	if err != nil {
		return row{}, err
	}
	return r.of(ref)
}

// of returns the record that was found, if it is that of ref.
func (r reply) of(ref store.Ref) (row, error) {
	found, err := r.row()
	if err == nil && found.Root != ref.Root {
		err = store.ErrNotFound
	}
	if err != nil {
		return row{}, err
	}
	found.Key = ref.Key
	return found, nil
}

// swap writes next over prev, which is zero for a record that is not there yet. If
// the record has changed since it was read, it returns what is there now instead.
func (s *Store) swap(c *call, prev row, next store.Record, entry store.Entry) (reply, error) {
	dropped, claims := "", ""
	if prev.Scheduled != next.Scheduled {
		dropped, claims = digest(prev.Scheduled), digest(next.Scheduled)
	}
	before, lease, expiry, line := "", "", "", ""
	was := map[string]string{}
	if prev.version != (version{}) {
		before, was = string(prev.version[:]), encode(prev.Record)
	}
	if next.State == store.InFlight || next.State == store.Pending {
		lease = ofTime(next.Lease)
	}
	if next.Done() && next.Outcome != nil && next.Retention > 0 {
		expiry = ofTime(expires(next))
	}
	if entry.Verb != "" {
		line = ofEntry(entry)
	}
	var removed, set []any
	is := encode(next)
	for name := range was {
		if _, ok := is[name]; !ok {
			removed = append(removed, name)
		}
	}
	for name, value := range is {
		if old, ok := was[name]; !ok || old != value {
			set = append(set, name, value)
		}
	}
	args := []any{
		before, c.version[:], ofTime(next.Now), s.line.timeout.Microseconds(), next.Key[:], member(next.Ref),
		claims, dropped, line, lease, expiry, len(removed),
	}
	return s.do(c, &job{
		script: swapScript, durable: true, args: append(append(args, removed...), set...),
		keys: []string{s.record(next.Ref), s.history(next.Ref), s.keys.scheduled, s.keys.leases, s.keys.expiries, s.keys.refs},
	})
}

// expires returns from when on the outcome of r may go, in whole microseconds.
func expires(r store.Record) time.Time {
	at := r.Finished.Add(r.Retention + time.Microsecond - 1).Truncate(time.Microsecond)
	if at.Before(r.Expires) {
		return r.Expires
	}
	return at
}

// unconfirmed is the error of a change that too few replicas have.
func (s *Store) unconfirmed(r reply) error {
	if r.acked {
		return nil
	}
	return fmt.Errorf("%w: fewer than %d within %s", ErrReplicas, s.opts.Replicas, s.opts.ReplicaTimeout)
}
