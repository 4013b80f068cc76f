package dynamodb

import (
	"context"
	"fmt"
	"time"

	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

var (
	_ store.Store     = (*Store)(nil)
	_ store.Lister    = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Janitor   = (*Store)(nil)
)

// How much a store remembers. What is forgotten is no loss: a claim is watched from
// the beginning again, and a record is read before it is written.
const (
	maxWatched = 100_000
	maxHeld    = 10_000
)

// Store keeps records in a DynamoDB table; see [New].
type Store struct {
	client  *driver.Client
	opts    Options
	flights flights
	// watched is since when each version of a record has been seen.
	watched *recent[version, time.Time]
	// held are records in flight as this store wrote them: most likely, they are still
	// so. Whoever starts from one writes on the condition that they are.
	held *recent[key.Key, row]
}

// New returns a store in a table that is there already; see [EnsureTable]. It refuses
// a table that could lose records: [ErrForeign], [ErrExpiring], [ErrReplicated]. ctx
// bounds New only.
func New(ctx context.Context, client *driver.Client, opts Options) (*Store, error) {
	opts.setDefaults()
	if err := opts.validate(client); err != nil {
		return nil, fmt.Errorf("dynamodb: open: %w", err)
	}
	s := &Store{
		client: client, opts: opts, flights: flights{of: map[store.Token]*flight{}},
		watched: newRecent[version, time.Time](maxWatched), held: newRecent[key.Key, row](maxHeld),
	}
	if err := s.check(ctx); err != nil {
		return nil, s.failed("open", err)
	}
	return s, nil
}

// Close waits until no claim is under way any more: at most about [Options.Timeout].
// Calls made after it fail with [ErrClosed]. The client stays open.
func (s *Store) Close() error {
	s.flights.close()
	return nil
}

// begin bounds a call.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if s.flights.isClosed() {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	return ctx, cancel, nil
}

// Get implements [store.Store]. It is one strongly consistent read.
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	r, err := s.get(ctx, ref)
	return own(r.Record), s.failed("get "+ref.Key.String(), err)
}

func (s *Store) get(ctx context.Context, ref store.Ref) (row, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return row{}, err
	}
	defer cancel()
	return s.read(ctx, ref)
}
