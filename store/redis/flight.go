package redis

import (
	"context"
	"sync"

	"github.com/effectonce/effectonce/store"
)

// flights are the claims that are being made, by token: calls with the same token
// come one after the other. So a claim whose caller has left can be given up, but
// never one that its owner asks for again.
type flights struct {
	mu      sync.Mutex
	of      map[store.Token]*flight
	closed  bool
	leaving sync.WaitGroup
}

type flight struct {
	landed  chan struct{}
	waiting int // later calls with the same token
}

// depart waits until no other call with this token is under way.
func (fs *flights) depart(ctx context.Context, token store.Token) (*flight, error) {
	for {
		fs.mu.Lock()
		before := fs.of[token]
		if before == nil {
			f := &flight{landed: make(chan struct{})}
			fs.of[token] = f
			fs.mu.Unlock()
			return f, nil
		}
		before.waiting++
		fs.mu.Unlock()
		select {
		case <-before.landed:
		case <-ctx.Done():
			fs.mu.Lock()
			before.waiting--
			fs.mu.Unlock()
			return nil, context.Cause(ctx)
		}
	}
}

func (fs *flights) wanted(f *flight) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return f.waiting > 0
}

func (fs *flights) land(token store.Token, f *flight) {
	fs.mu.Lock()
	delete(fs.of, token)
	fs.mu.Unlock()
	close(f.landed)
}

// after runs what is to be done after a caller has left, unless the store is closed:
// then the end of the lease must do.
func (fs *flights) after(f func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !fs.closed {
		fs.leaving.Go(f)
	}
}

func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.leaving.Wait()
}

// owning makes a claim by try. If the caller leaves while it is under way and it is
// won all the same, nobody would run what it claims: giveUp is reported at once, so
// that the next attempt need not wait for the lease to end. That fails if anything
// has happened to the record since, a renewal for instance.
func (s *Store) owning(ctx context.Context, q store.Request, giveUp store.Verb,
	try func(*call) (store.Record, error),
) (store.Record, error) {
	f, err := s.flights.depart(ctx, q.Token)
	if err != nil {
		return store.Record{}, err
	}
	c := newCall(ctx)
	r, err := try(c)
	if c.left == nil {
		s.flights.land(q.Token, f)
		return r, err
	}
	s.flights.after(func() {
		defer s.flights.land(q.Token, f)
		<-c.left.done
		if !s.flights.wanted(f) {
			s.abandon(context.WithoutCancel(ctx), c.version, q, giveUp)
		}
	})
	return r, err
}

// abandon gives a claim up, if the call with this version has made it. If that
// fails, the end of the lease does it.
func (s *Store) abandon(ctx context.Context, made version, q store.Request, giveUp store.Verb) {
	c := newCall(ctx)
	r, err := s.read(c, q.Ref)
	if err != nil || r.version != made || r.State != store.InFlight || r.Token != q.Token {
		return
	}
	change := store.Change{Verb: giveUp, Who: q.Who, Why: "the caller had gone before it was claimed"}
	next, changed, err := r.AfterReport(r.Claim(), change, r.Now)
	if err == nil && changed {
		// Whatever comes of it, nobody waits for it.
		_, _ = s.swap(c, r, next, next.Log(&r.Record, change.Verb, change.Who, change.Why))
	}
}
