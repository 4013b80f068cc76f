package storeurl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// Existing opens only what is there, for programs that look at the store of a
	// worker: no file is made, and no table of a server is made or migrated. An
	// SQLite file is brought up to date in any case. A store in memory is never there.
	Existing bool

	// Timeout is how long a server may take to let us in. Default 10s.
	Timeout time.Duration
}

// Opened is a store that is ready to use.
type Opened struct {
	Store store.Store
	Name  string // the URL as it may be shown: without password and parameters

	close func() error
}

// Close ends the store and everything that was opened for it. The store must not
// be used any more.
func (o *Opened) Close() error { return o.close() }

// Open opens the store that url names. The caller closes it.
func Open(ctx context.Context, url string, opts Options) (*Opened, error) {
	if opts.Timeout <= 0 {
		opts.Timeout = 10 * time.Second
	}
	if url == "" {
		return nil, ErrNoURL
	}
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok {
		scheme = ""
	}
	switch scheme {
	case "memory":
		return openMemory(rest, opts)
	case "sqlite":
		return openSQLite(ctx, rest, opts)
	case "postgres", "postgresql":
		return openPostgres(ctx, scheme, rest, opts)
	case "redis", "rediss":
		return openRedis(ctx, scheme, rest, opts)
	}
	// Not the URL itself: where its parts are, and so its password, is anybody's guess.
	return nil, ErrScheme
}

func openMemory(rest string, opts Options) (*Opened, error) {
	switch {
	case rest != "":
		return nil, fmt.Errorf("%w: memory: takes nothing behind it", ErrSyntax)
	case opts.Existing:
		return nil, fmt.Errorf("%w: memory: lives and dies with its process and cannot be opened from another", ErrMissing)
	}
	return &Opened{Store: memory.New(memory.Options{}), Name: "memory:", close: func() error { return nil }}, nil
}
