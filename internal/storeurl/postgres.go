package storeurl

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/effectonce/effectonce/store/postgres"
)

func openPostgres(ctx context.Context, scheme, rest string, opts Options) (*Opened, error) {
	a, err := parseAddress(scheme, rest, "schema", "portable", "notify")
	if err != nil {
		return nil, err
	}
	options, err := postgresOptions(a)
	if err != nil {
		return nil, err
	}
	pool, err := connect(ctx, a, opts)
	if err != nil {
		return nil, err
	}
	s, err := postgres.New(pool, options)
	if err == nil {
		if opts.Existing {
			err = s.Check(ctx)
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

func postgresOptions(a address) (options postgres.Options, err error) {
	options.Schema = a.own["schema"]
	if options.Portable, err = a.yes("portable", false); err != nil {
		return options, err
	}
	notify, err := a.yes("notify", true)
	options.NoNotify = !notify
	return options, err
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

// Codes of PostgreSQL that have a remedy.
const notPermitted = "42501"

// explain says what to do about an error of the server, or about what it has.
func explain(err error) error {
	var answer *pgconn.PgError
	switch {
	case errors.Is(err, postgres.ErrNotMigrated):
		return fmt.Errorf("%w: its tables are not there or older than this program; start a worker, which migrates them, or name another schema (?schema=…): %w",
			ErrMissing, err)
	case errors.Is(err, postgres.ErrPortable):
		return fmt.Errorf("%w (in the URL: with ?portable=true, or without)", err)
	case errors.As(err, &answer) && answer.Code == notPermitted:
		return fmt.Errorf("%w; let a user who may create tables there open it once, and let this one read them all", err)
	}
	return err
}
