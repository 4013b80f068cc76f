package redis

import (
	"fmt"
	"strings"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/store"
)

// DefaultPrefix is what all keys begin with unless [Options.Prefix] says otherwise.
const DefaultPrefix = "effectonce"

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Prefix begins the name of every key, in braces: "{effectonce}:record:…". Two
	// prefixes are two stores that know nothing of each other. It must not contain
	// braces. Default [DefaultPrefix].
	Prefix string

	// Replicas is how many replicas must have confirmed a claim, take-over, report or
	// amendment, and all that was written before it. Fewer are [ErrReplicas]: then no
	// effect may run. Default 0: none is waited for. See the package's text for what
	// that does not promise.
	Replicas int

	// ReplicaTimeout is how long they have for it. While too few are there, calls take
	// that long. Default 1s; must be at least 1ms and less than the client's ReadTimeout.
	ReplicaTimeout time.Duration

	// Timeout bounds how long a call is sent again when its answer was lost or the
	// server is not there. The caller's context only ends the waiting. Default 10s;
	// must be at least 100ms.
	Timeout time.Duration

	// NoLane has every call sent by itself, on a connection of the client's pool.
	// Otherwise those of all goroutines that wait share two connections and their round
	// trips: the more there are, the fewer round trips each costs. A single one is sent
	// at once either way.
	NoLane bool

	// Existing refuses to begin a new store: a mistyped prefix is then [ErrMissing],
	// not an empty store that has forgotten every action.
	Existing bool
}

func (o *Options) setDefaults() {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.ReplicaTimeout == 0 {
		o.ReplicaTimeout = time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
}

func (o *Options) validate(client driver.UniversalClient) error {
	read, err := readTimeout(client)
	switch {
	case err != nil:
		return err
	case strings.ContainsAny(o.Prefix, "{}"):
		return fmt.Errorf("%w: Prefix must not contain braces, got %q", store.ErrInvalid, o.Prefix)
	case o.Replicas < 0:
		return fmt.Errorf("%w: Replicas must not be negative, got %d", store.ErrInvalid, o.Replicas)
	case o.Timeout < 100*time.Millisecond:
		return fmt.Errorf("%w: Timeout must be at least 100ms, got %s", store.ErrInvalid, o.Timeout)
	case read <= 0:
		return fmt.Errorf("%w: the client's ReadTimeout must be positive, or a server that hangs would hold every call", store.ErrInvalid)
	case o.ReplicaTimeout < time.Millisecond || o.Replicas > 0 && o.ReplicaTimeout >= read:
		return fmt.Errorf("%w: ReplicaTimeout must be at least 1ms and less than the client's ReadTimeout of %s, got %s",
			store.ErrInvalid, read, o.ReplicaTimeout)
	}
	return nil
}
