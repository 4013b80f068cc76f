package redis

import (
	"context"
	"fmt"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/store"
)

var (
	_ store.Store     = (*Store)(nil)
	_ store.Lister    = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Janitor   = (*Store)(nil)
)

// Store keeps records in Redis; see [New].
type Store struct {
	opts    Options
	keys    keys
	line    *line
	flights flights
	recent  recent
}

// New returns a store that uses the client's connections, two at a time unless
// [Options.NoLane] says otherwise. It refuses a
// server that may evict records ([ErrEviction]), and claims the prefix if it is unused.
// ctx bounds New only. [Store.Close] comes before closing the client.
func New(ctx context.Context, client driver.UniversalClient, opts Options) (*Store, error) {
	opts.setDefaults()
	if err := opts.validate(client); err != nil {
		return nil, fmt.Errorf("redis: open: %w", err)
	}
	server := &server{client: client, keys: newKeys(opts.Prefix), opts: opts}
	if err := server.check(ctx); err != nil {
		return nil, fmt.Errorf("redis: open: %w", err)
	}
	if err := server.checkFormat(ctx); err != nil {
		return nil, fmt.Errorf("redis: open: %w", err)
	}
	return &Store{
		opts: opts, keys: server.keys, line: newLine(server, opts),
		flights: flights{of: map[store.Token]*flight{}}, recent: recent{of: map[store.Token]row{}},
	}, nil
}

// Close waits until nothing of the store is under way any more: at most about
// [Options.Timeout] if the server answers, or its client's patience longer. Calls made
// after it fail with [ErrClosed]. The client stays open.
func (s *Store) Close() error {
	s.flights.close()
	s.line.close()
	return nil
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	r, err := s.read(newCall(ctx), ref)
	return r.Record, failed("get "+ref.Key.String(), err)
}
