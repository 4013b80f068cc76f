package interceptor

import (
	"context"
	"slices"
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
	held    []*holding // in no order
	timer   *time.Timer
	running bool // the timer is
}

// holding is a claim whose lease is kept.
type holding struct {
	claim store.Claim
	until time.Time // after that nobody waits for its body any more
	lost  context.CancelCauseFunc
	round *round
	at    int // where it is in the round; -1 once it is not
}

func (o *round) add(h *holding) {
	h.round, h.at = o, len(o.held)
	o.held = append(o.held, h)
}

// remove puts the last one in h's place.
func (o *round) remove(h *holding) {
	if h.at < 0 {
		return
	}
	end := len(o.held) - 1
	last := o.held[end]
	o.held[h.at], last.at = last, h.at
	o.held[end], h.at = nil, -1
	o.held = o.held[:end]
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
		o = &round{lease: lease, running: true}
		o.timer = time.AfterFunc(lease/3, func() { r.renew(o) })
		r.rounds[lease] = o
	}
	if !o.running {
		o.timer.Reset(lease / 3)
		o.running = true
	}
	o.add(h)
}

// release ends the renewal of h. It may be called more than once.
func (r *renewals) release(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.round.remove(h)
}

// due returns the claims to renew now, without those for which nobody waits any more.
// If there are none, the round rests.
func (r *renewals) due(o *round) []store.Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	claims := make([]store.Claim, 0, len(o.held))
	for _, h := range slices.Clone(o.held) {
		if now.After(h.until) {
			o.remove(h)
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
	for _, h := range slices.Clone(o.held) {
		if lost[h.claim] {
			h.lost(effectonce.ErrLeaseLost)
			o.remove(h)
		}
	}
}
