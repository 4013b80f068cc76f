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

// round is the claims with leases of one length. Its timer runs on until it finds that
// nothing is held: most bodies come and go between two ticks, and cost no timer of
// their own. Its fields belong to renewals.mu.
type round struct {
	lease   time.Duration
	held    map[*holding]struct{}
	timer   *time.Timer
	running bool // the timer is
}

// holding is a claim whose lease is kept.
type holding struct {
	claim store.Claim
	until time.Time // after that nobody waits for its body any more
	lost  context.CancelCauseFunc
	round *round
}

func newRenewals(s store.Store) *renewals {
	return &renewals{store: s, rounds: map[time.Duration]*round{}}
}

// keep renews h's claim until it is released, or until h.until. h.lost is called, with
// ErrLeaseLost, if the store says that the claim is gone. A renewal that fails is not a
// loss; a renewal that is still under way when it is released does not bring back what
// its owner has ended, which is the store's promise.
func (r *renewals) keep(h *holding, lease time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.rounds[lease]
	if o == nil {
		o = &round{lease: lease, held: map[*holding]struct{}{}, running: true}
		o.timer = time.AfterFunc(lease/3, func() { r.renew(o) })
		r.rounds[lease] = o
	}
	if !o.running {
		o.timer.Reset(lease / 3)
		o.running = true
	}
	h.round = o
	o.held[h] = struct{}{}
}

// release ends the renewal of h. It may be called more than once.
func (r *renewals) release(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(h.round.held, h)
}

// due returns the claims to renew now, without those for which nobody waits any more.
// If there are none, the round rests.
func (r *renewals) due(o *round) []store.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	claims := make([]store.Claim, 0, len(o.held))
	for h := range o.held {
		if now.After(h.until) {
			delete(o.held, h)
			continue
		}
		claims = append(claims, h.claim)
	}
	o.running = len(claims) > 0
	return claims
}

// renew renews everything in a round, and comes back after a third of the lease.
func (r *renewals) renew(o *round) {
	claims := r.due(o)
	if len(claims) == 0 {
		return
	}
	start := time.Now()
	// One answer that never comes must leave time for another try within the lease.
	ctx, cancel := context.WithTimeout(context.Background(), o.lease/3)
	defer cancel()
	gone, err := r.store.Renew(ctx, o.lease, claims)
	if err != nil {
		gone = nil // nothing is known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o.drop(gone)
	o.timer.Reset(max(o.lease/3-time.Since(start), 0))
}

// drop ends what holds claims that are gone.
func (o *round) drop(gone []store.Claim) {
	if len(gone) == 0 {
		return
	}
	lost := make(map[store.Claim]bool, len(gone))
	for _, claim := range gone {
		lost[claim] = true
	}
	for h := range o.held {
		if lost[h.claim] {
			h.lost(effectonce.ErrLeaseLost)
			delete(o.held, h)
		}
	}
}
