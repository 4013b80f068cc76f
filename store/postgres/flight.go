package postgres

import (
	"context"
	"sync"

	"github.com/effectonce/effectonce/store"
)

// flights are the claims that are being made, by token, so that one whose caller
// has left can be given up, but never one that the caller has asked for again.
type flights struct {
	mu sync.Mutex
	of map[store.Token]*flight
}

type flight struct {
	landed  chan struct{} // closed when all is done, giving up included
	waiting int           // repeated calls with the same token
	left    bool          // the caller has gone
	known   bool          // the answer is there
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

// leave says that the caller goes, unless the answer is there.
func (fs *flights) leave(f *flight) (gone bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.left = !f.known
	return f.left
}

// arrive says that the answer is there, and reports whether nobody wants it.
func (fs *flights) arrive(f *flight) (unwanted bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.known = true
	return f.left && f.waiting == 0
}

func (fs *flights) land(token store.Token, f *flight) {
	fs.mu.Lock()
	delete(fs.of, token)
	fs.mu.Unlock()
	close(f.landed)
}

// owning makes a claim: begin sets about it and says later what came of it. If the
// caller has gone when the claim is won, nobody would run what it claims: giveUp is
// reported at once, so that the next attempt need not wait for the lease to end.
func (s *Store) owning(ctx context.Context, q store.Request, giveUp store.Verb, begin func(*job) error) (store.Record, error) {
	if ctx.Err() != nil {
		return store.Record{}, context.Cause(ctx)
	}
	flight, err := s.flights.depart(ctx, q.Token)
	if err != nil {
		return store.Record{}, err
	}
	done := make(chan struct{})
	j := &job{ctx: ctx}
	j.delivered = func() {
		unwanted := s.flights.arrive(flight)
		r, err := j.result()
		close(done)
		if !unwanted || err != nil || r.State != store.InFlight || r.Token != q.Token {
			s.flights.land(q.Token, flight)
			return
		}
		s.giveUp(ctx, r.Claim(), flight, store.Change{Verb: giveUp, Who: q.Who, Why: "the caller had gone before it was claimed"})
	}
	err = begin(j)
	if err != nil {
		s.flights.land(q.Token, flight)
		return store.Record{}, err
	}
	select {
	case <-done:
		return j.result()
	case <-ctx.Done():
		if s.flights.leave(flight) {
			return store.Record{}, context.Cause(ctx)
		}
		<-done
		return j.result()
	}
}

// giveUp reports on a claim that nobody wants. If it fails, the end of the lease does it.
func (s *Store) giveUp(ctx context.Context, held store.Claim, f *flight, c store.Change) {
	s.work.more(func() {
		defer s.flights.land(held.Token, f)
		s.single(&job{ctx: context.WithoutCancel(ctx), alone: s.newReport(held, c).alone, delivered: func() {}})
	})
}
