package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/internal/outlive"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

var (
	_ store.Store     = (*Store)(nil)
	_ store.Lister    = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Janitor   = (*Store)(nil)
)

// Store keeps records in PostgreSQL; see [New].
type Store struct {
	pool  *pgxpool.Pool
	opts  Options
	text  statements
	plain plain

	// begin is set once the database has shown that its transactions are not READ
	// COMMITTED by default; see send.go.
	begin    atomic.Bool
	prepares bool // connections keep prepared statements

	work    work
	flights flights
	recent  recent
	lane    lane
	callers *outlive.Callers

	expiredTo atomic.Pointer[pgtype.Timestamptz] // how far Expire has come

	watchers watchers
}

// New returns a store that uses the pool's connections. It does not talk to the
// database; [Migrate] must have been called for the same schema at some time.
// [Store.Close] comes before closing the pool.
func New(pool *pgxpool.Pool, opts Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("postgres: the pool is nil")
	}
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Store{
		pool: pool, opts: opts, text: newStatements(opts.Schema), plain: newPlain(opts.Schema),
		flights: flights{of: map[store.Token]*flight{}}, recent: recent{of: map[store.Token]*store.Record{}},
		callers:  outlive.New(opts.Timeout),
		prepares: pool.Config().ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement,
	}, nil
}

// Close waits until nothing of the store is at work in the database any more:
// at most [Options.Timeout]. Calls made after it fail, and change nothing.
func (s *Store) Close() {
	s.work.refuse() // first: who began to listen now would not be told to end
	s.watchers.close()
	s.work.wait()
}

const getSQL = `
SELECT {columns}, clock_timestamp() FROM {records} WHERE root = $1 AND key = $2`

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	r, err := s.do(ctx, job{alone: func(ctx context.Context, c *pgx.Conn) (store.Record, error) {
		r, err := s.find(ctx, c, ref)
		return r.Record, err
	}})
	return r, failed("get", ref.Key, err)
}

// find returns the row of ref, or [store.ErrNotFound].
func (s *Store) find(ctx context.Context, c *pgx.Conn, ref store.Ref) (row, error) {
	if s.opts.Portable {
		return s.findPlainly(ctx, c, ref)
	}
	rows, err := c.Query(ctx, s.text.get, uuid(ref.Root), ref.Key[:])
	if err != nil {
		return row{}, err
	}
	found, err := read(rows)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return row{}, err
	}
	return found[0], nil
}

// failed says what failed, for which key. The arguments of a statement are in no
// error: they may be secrets.
func failed(what string, k key.Key, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, k, explained(err))
}

// explained says what to do where the tables are not as this store knows them.
func explained(err error) error {
	if code := state(err); code == undefinedTable || code == undefinedColumn {
		return fmt.Errorf("%w (postgres.Migrate makes the tables; was it called for this schema, by this version, with the same Options.Portable?)", err)
	}
	return err
}
