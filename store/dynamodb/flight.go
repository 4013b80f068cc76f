package dynamodb

import (
	"context"
	"sync"

	"github.com/effectonce/effectonce/store"
)

// flights are the claims that are being made, by token: calls with the same token
// come one after the other. So a claim whose caller has left can be given up, but
// never one that its owner asks for again.
type flights struct {
	mu     sync.Mutex
	of     map[store.Token]*flight
	closed bool
	flying sync.WaitGroup
}

type flight struct {
	landed  chan struct{}
	waiting int  // later calls with the same token
	left    bool // the caller has gone
	arrived bool // before the caller went
	answer  claimed
	err     error
}

// claimed is what came of a claim.
type claimed struct {
	row
	made bool // by this call
}

// depart waits until no other call with this token is under way.
func (fs *flights) depart(ctx context.Context, token store.Token) (*flight, error) {
	for {
		fs.mu.Lock()
		before := fs.of[token]
		switch {
		case fs.closed:
			fs.mu.Unlock()
			return nil, ErrClosed
		case before == nil:
			f := &flight{landed: make(chan struct{})}
			fs.of[token] = f
			fs.flying.Add(1)
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

// leave reports whether the caller left before the answer came.
func (fs *flights) leave(f *flight) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.left = !f.arrived
	return f.left
}

// arrive reports whether nobody waits for the answer.
func (fs *flights) arrive(f *flight) (unwanted bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.arrived = !f.left
	return f.left && f.waiting == 0
}

func (fs *flights) land(token store.Token, f *flight) {
	fs.mu.Lock()
	delete(fs.of, token)
	fs.mu.Unlock()
	close(f.landed)
	fs.flying.Done()
}

func (fs *flights) isClosed() bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.closed
}

func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.flying.Wait()
}

// owning makes a claim by try, which goes on when the caller leaves: a request that is
// cut off may still arrive, and nobody would know. If it is won all the same, nobody
// would run what it claims: giveUp is reported at once, so that the next attempt need
// not watch it for a lease.
func (s *Store) owning(ctx context.Context, q store.Request, giveUp store.Verb,
	try func(context.Context) (claimed, error),
) (store.Record, error) {
	if ctx.Err() != nil {
		return store.Record{}, context.Cause(ctx)
	}
	f, err := s.flights.depart(ctx, q.Token)
	if err != nil {
		return store.Record{}, err
	}
	go func() {
		defer s.flights.land(q.Token, f)
		apart := context.WithoutCancel(ctx)
		f.answer, f.err = s.bounded(apart, try)
		if s.flights.arrive(f) && f.err == nil && f.answer.made {
			s.abandon(apart, q, giveUp, f.answer.row)
		}
	}()
	select {
	case <-f.landed:
	case <-ctx.Done():
		if s.flights.leave(f) {
			return store.Record{}, context.Cause(ctx)
		}
		<-f.landed
	}
	return own(f.answer.Record), f.err
}

func (s *Store) bounded(ctx context.Context, try func(context.Context) (claimed, error)) (claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	return try(ctx)
}

// abandon gives up the claim that made r, unless anything has happened to it since. If
// that fails, the end of the lease does it.
func (s *Store) abandon(ctx context.Context, q store.Request, giveUp store.Verb, r row) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	change := store.Change{Verb: giveUp, Who: q.Who, Why: "the caller had gone before it was claimed"}
	next, changed, err := r.AfterReport(r.Claim(), change, s.now())
	if err == nil && changed {
		// Whatever comes of it, nobody waits for it.
		_, _, _ = s.swap(ctx, r, next, change.Verb, change.Who, change.Why)
	}
}
