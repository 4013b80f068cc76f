package interceptor

import (
	"context"
	"sync"
	"time"

	"github.com/effectonce/effectonce/store"
)

// renewals keeps the leases of all running bodies of a process: one loop for each
// length of lease, which renews everything it holds in one call every third of it,
// and ends when it holds nothing.
type renewals struct {
	store store.Store
	mu    sync.Mutex
	loops map[time.Duration]*renewal
}

// renewal is one loop. Its fields belong to renewals.mu.
type renewal struct {
	held map[store.Claim]holding
	stop context.CancelFunc
}

type holding struct {
	until time.Time
	lost  func()
}

func newRenewals(s store.Store) *renewals {
	return &renewals{store: s, loops: map[time.Duration]*renewal{}}
}

// keep renews a claim until release is called, or until the time until, after which
// nobody waits for its body any more. lost is called if the store says that the
// claim is gone. A renewal that fails is not a loss; a renewal that is still under
// way when release is called does not bring back what its owner has ended, which is
// the store's promise. release may be called more than once.
func (r *renewals) keep(held store.Claim, lease time.Duration, until time.Time, lost func()) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	loop := r.loops[lease]
	if loop == nil {
		ctx, stop := context.WithCancel(context.Background())
		loop = &renewal{held: map[store.Claim]holding{}, stop: stop}
		r.loops[lease] = loop
		go r.run(ctx, loop, lease)
	}
	loop.held[held] = holding{until: until, lost: lost}
	return func() { r.drop(loop, lease, held) }
}

// drop takes a claim out of its loop, and ends a loop that holds nothing.
func (r *renewals) drop(loop *renewal, lease time.Duration, gone ...store.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, claim := range gone {
		delete(loop.held, claim)
	}
	if len(loop.held) == 0 {
		loop.stop()
		if r.loops[lease] == loop {
			delete(r.loops, lease)
		}
	}
}

func (r *renewals) run(ctx context.Context, loop *renewal, lease time.Duration) {
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.renew(ctx, loop, lease)
		}
	}
}

// renew renews everything that the loop holds.
func (r *renewals) renew(ctx context.Context, loop *renewal, lease time.Duration) {
	now := time.Now()
	var claims, over []store.Claim
	r.mu.Lock()
	for claim, h := range loop.held {
		if now.After(h.until) {
			over = append(over, claim)
		} else {
			claims = append(claims, claim)
		}
	}
	r.mu.Unlock()
	r.drop(loop, lease, over...)
	if len(claims) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	gone, err := r.store.Renew(ctx, lease, claims)
	if err != nil {
		return // nothing is known
	}
	for _, claim := range gone {
		r.mu.Lock()
		h, ok := loop.held[claim]
		r.mu.Unlock()
		if ok {
			h.lost()
		}
	}
	r.drop(loop, lease, gone...)
}
