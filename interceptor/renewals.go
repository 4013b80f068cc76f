package interceptor

import (
	"context"
	"sync"
	"time"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/store"
)

// renewals keeps the leases of all running bodies of a process: one round for each
// length of lease, which renews everything it holds in one call every third of it.
type renewals struct {
	store  store.Store
	mu     sync.Mutex
	rounds map[time.Duration]*round
}

// round is the claims with leases of one length. It is gone when it holds nothing.
// Its fields belong to renewals.mu.
type round struct {
	lease time.Duration
	held  map[store.Claim]holding
	timer *time.Timer
}

type holding struct {
	until time.Time
	lost  context.CancelCauseFunc
}

func newRenewals(s store.Store) *renewals {
	return &renewals{store: s, rounds: map[time.Duration]*round{}}
}

// keep renews a claim until release is called, or until the time until, after which
// nobody waits for its body any more. lost is called, with ErrLeaseLost, if the store
// says that the claim is gone. A renewal that fails is not a loss; a renewal that is still under
// way when release is called does not bring back what its owner has ended, which is
// the store's promise. release may be called more than once.
func (r *renewals) keep(held store.Claim, lease time.Duration, until time.Time, lost context.CancelCauseFunc) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.rounds[lease]
	if o == nil {
		o = &round{lease: lease, held: map[store.Claim]holding{}}
		o.timer = time.AfterFunc(lease/3, func() { r.renew(o) })
		r.rounds[lease] = o
	}
	o.held[held] = holding{until: until, lost: lost}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(o.held, held)
		r.endIfEmpty(o)
	}
}

// endIfEmpty ends a round that holds nothing, and reports whether it did.
func (r *renewals) endIfEmpty(o *round) bool {
	if len(o.held) > 0 {
		return false
	}
	o.timer.Stop()
	if r.rounds[o.lease] == o {
		delete(r.rounds, o.lease)
	}
	return true
}

// due returns the claims to renew now, without those for which nobody waits any more.
func (r *renewals) due(o *round) []store.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	claims := make([]store.Claim, 0, len(o.held))
	for claim, h := range o.held {
		if now.After(h.until) {
			delete(o.held, claim)
			continue
		}
		claims = append(claims, claim)
	}
	if r.endIfEmpty(o) {
		return nil
	}
	return claims
}

// renew renews everything in a round, and comes back after a third of the lease.
func (r *renewals) renew(o *round) {
	claims := r.due(o)
	if claims == nil {
		return
	}
	start := time.Now()
	// One answer that never comes must leave time for another try within the lease.
	ctx, cancel := context.WithTimeout(context.Background(), o.lease/3)
	defer cancel()
	gone, err := r.store.Renew(ctx, o.lease, claims)

	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil { // else nothing is known
		for _, claim := range gone {
			if h, ok := o.held[claim]; ok {
				h.lost(effectonce.ErrLeaseLost)
				delete(o.held, claim)
			}
		}
	}
	if !r.endIfEmpty(o) {
		o.timer.Reset(max(o.lease/3-time.Since(start), 0))
	}
}
