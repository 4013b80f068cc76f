package storeurl

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

func openPostgres(ctx context.Context, scheme, rest string, opts Options) (*Opened, error) {
	a, err := parseAddress(scheme, rest, "schema")
	if err != nil {
		return nil, err
	}
	pool, err := connect(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	options := postgres.Options{Schema: a.own}
	s, err := postgres.New(pool, options)
	if err == nil {
		if opts.Existing {
			err = checkTables(ctx, s)
		} else {
			err = postgres.Migrate(ctx, pool, options)
		}
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open %s: %w", a.name, explain(err))
	}
	return &Opened{Store: s, Name: a.name, close: func() error {
		s.Close() // first: it waits for what is still at work in the pool
		pool.Close()
		return nil
	}}, nil
}

func connect(ctx context.Context, a address, opts Options) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(a.url)
	if err != nil {
		return nil, a.refused(err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", a.name, err)
	}
	ping, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	if err := pool.Ping(ping); err != nil {
		pool.Close()
		return nil, fmt.Errorf("%w: open %s: %w; check that the server runs, and the URL's host, port, user, password and database",
			ErrUnreachable, a.name, err)
	}
	return pool, nil
}

// checkTables asks for a record that nobody has: the answer to that is "not found"
// where the tables are as this program knows them.
func checkTables(ctx context.Context, s store.Store) error {
	nobodys, err := key.Digest("effectonce/no record")
	if err != nil {
		return err
	}
	_, err = s.Get(ctx, store.Ref{Key: nobodys})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Codes of PostgreSQL that have a remedy.
const (
	undefinedTable  = "42P01"
	undefinedColumn = "42703"
	notPermitted    = "42501"
)

// explain says what to do about an error of the server.
func explain(err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code {
	case undefinedTable, undefinedColumn:
		return fmt.Errorf("%w: its tables are not there or older than this program; start a worker, which migrates them, or name another schema (?schema=…): %w",
			ErrMissing, err)
	case notPermitted:
		return fmt.Errorf("%w; let a user who may create tables there open it once", err)
	}
	return err
}
