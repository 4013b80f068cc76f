// Package faulty wraps a store so that it fails on purpose, at a chosen moment of
// a chosen call. It is for tests, and for the worker that the demonstration kills.
//
//	s := faulty.Wrap(good,
//		faulty.After(faulty.Report, faulty.Fail(io.ErrUnexpectedEOF)).Once(), // applied, but the answer is lost
//		faulty.Before(faulty.Claim, faulty.Delay(time.Second)),
//		faulty.After(faulty.Claim, faulty.Kill()).If(func(c faulty.Call) bool { return c.Operation == "Refund" }),
//	)
//
// A wrapped store has no optional powers: ask the good one.
package faulty

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/effectonce/effectonce/store"
)

var _ store.Store = (*Store)(nil)

// Method is a method of [store.Store].
type Method string

// The methods.
const (
	Claim    Method = "Claim"
	TakeOver Method = "TakeOver"
	Renew    Method = "Renew"
	Report   Method = "Report"
	Amend    Method = "Amend"
	Get      Method = "Get"
)

// Call is one call that a fault may look at.
type Call struct {
	Method    Method
	Ref       store.Ref  // zero for Renew
	Operation string     // of Claim and TakeOver
	Verb      store.Verb // of Report and Amend
}

// Fault is what goes wrong, when. See [Before] and [After].
type Fault struct {
	method Method
	after  bool
	action Action
	when   func(Call) bool
	left   *atomic.Int64 // how often it still happens; nil means always
}

// Before has a happen before a call reaches the store. If it returns an error, the
// call never does.
func Before(m Method, a Action) Fault { return Fault{method: m, action: a} }

// After has a happen after a call was answered. If it returns an error, the answer
// is lost: the call was applied, and its caller cannot know.
func After(m Method, a Action) Fault { return Fault{method: m, action: a, after: true} }

// If restricts the fault to some calls.
func (f Fault) If(when func(Call) bool) Fault {
	f.when = when
	return f
}

// Once has the fault happen the first time only.
func (f Fault) Once() Fault { return f.Times(1) }

// Times has the fault happen the first n times only.
func (f Fault) Times(n int64) Fault {
	f.left = new(atomic.Int64)
	f.left.Store(n)
	return f
}

// Store is a store with faults; see [Wrap].
type Store struct {
	good   store.Store
	faults []Fault
}

// Wrap returns good with faults. Several faults of one call happen in their order,
// up to the first that returns an error.
func Wrap(good store.Store, faults ...Fault) *Store { return &Store{good, faults} }

func (s *Store) happen(ctx context.Context, after bool, c Call) error {
	for _, f := range s.faults {
		if f.method != c.Method || f.after != after || f.when != nil && !f.when(c) ||
			f.left != nil && f.left.Add(-1) < 0 {
			continue
		}
		if err := f.action(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) call(ctx context.Context, c Call, do func() (store.Record, error)) (store.Record, error) {
	if err := s.happen(ctx, false, c); err != nil {
		return store.Record{}, err
	}
	r, err := do()
	if lost := s.happen(ctx, true, c); lost != nil {
		return store.Record{}, lost
	}
	return r, err
}

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	return s.call(ctx, Call{Method: Claim, Ref: q.Ref, Operation: q.Operation}, func() (store.Record, error) {
		return s.good.Claim(ctx, q)
	})
}

// TakeOver implements [store.Store].
func (s *Store) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	return s.call(ctx, Call{Method: TakeOver, Ref: q.Ref, Operation: q.Operation}, func() (store.Record, error) {
		return s.good.TakeOver(ctx, q, seen)
	})
}

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	_, err = s.call(ctx, Call{Method: Renew}, func() (_ store.Record, err error) {
		lost, err = s.good.Renew(ctx, lease, held)
		return store.Record{}, err
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

// Report implements [store.Store].
func (s *Store) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	return s.call(ctx, Call{Method: Report, Ref: held.Ref, Verb: c.Verb}, func() (store.Record, error) {
		return s.good.Report(ctx, held, c)
	})
}

// Amend implements [store.Store].
func (s *Store) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	return s.call(ctx, Call{Method: Amend, Ref: seen.Ref, Verb: c.Verb}, func() (store.Record, error) {
		return s.good.Amend(ctx, seen, c)
	})
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	return s.call(ctx, Call{Method: Get, Ref: ref}, func() (store.Record, error) { return s.good.Get(ctx, ref) })
}
