package storeurl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/store/redis"
)

func openRedis(ctx context.Context, scheme, rest string, opts Options) (*Opened, error) {
	a, err := parseAddress(scheme, rest, "prefix")
	if err != nil {
		return nil, err
	}
	options, err := driver.ParseURL(a.url)
	if err != nil {
		if _, whole := errors.AsType[*url.Error](err); whole { // it carries the URL in full
			err = errors.New("the driver cannot read it")
		}
		return nil, fmt.Errorf("%w: %s: %w", ErrSyntax, a.name, err)
	}
	// Otherwise a server that does not answer is waited for longer than opts says.
	options.ContextTimeoutEnabled = true
	client := driver.NewClient(options)
	s, err := connectRedis(ctx, client, a, opts)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	return &Opened{Store: s, Name: a.name, close: func() error {
		return errors.Join(s.Close(), client.Close()) // in this order: it waits for what is under way
	}}, nil
}

func connectRedis(ctx context.Context, client *driver.Client, a address, opts Options) (*redis.Store, error) {
	bounded, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	s, err := redis.New(bounded, client, redis.Options{Prefix: a.own["prefix"], Existing: opts.Existing})
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("open %s: %w", a.name, context.Cause(ctx))
	case errors.Is(err, redis.ErrMissing):
		return nil, fmt.Errorf("%w: open %s: nothing was ever kept there; name the database and the prefix that the worker uses (?prefix=…)", ErrMissing, a.name)
	case unreachable(err):
		return nil, fmt.Errorf("%w: open %s: %w; check that the server runs, and the URL's host, port, user, password and database",
			ErrUnreachable, a.name, err)
	}
	return nil, fmt.Errorf("open %s: %w", a.name, err)
}

// unreachable reports whether the server does not answer, or does not let us in.
func unreachable(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, context.DeadlineExceeded) || driver.IsAuthError(err) || driver.HasErrorPrefix(err, "WRONGPASS") ||
		driver.HasErrorPrefix(err, "NOAUTH")
}
