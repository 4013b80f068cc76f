package redis

import (
	"errors"
	"fmt"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/store"
)

// Errors of this package, beside those of package store.
var (
	// ErrEviction is returned by New when the server may throw records away when its
	// memory is full.
	ErrEviction = errors.New("the server may evict records: set maxmemory-policy to noeviction")

	// ErrClient is returned by New for a client that a store cannot use: a Ring, whose
	// keys change their server when one is down, or an implementation of somebody's own.
	ErrClient = errors.New("the client must be a *redis.Client (also of Sentinel) or a *redis.ClusterClient")

	// ErrMissing is returned by New, with Options.Existing, when nothing was ever kept
	// under the prefix.
	ErrMissing = errors.New("there is no store under the prefix")

	// ErrForeign is returned by New when the prefix is that of another program.
	ErrForeign = errors.New("the keys belong to another program")

	// ErrNewer is returned by New when a newer version of this package has written there.
	ErrNewer = errors.New("the records were written by a newer version of effectonce: update this program")

	// ErrReplicas is returned when fewer than Options.Replicas have confirmed a change
	// in time. The primary has made it: whoever gets this from Claim or TakeOver must
	// not run the effect. Repeat the call as it was; the token settles it.
	ErrReplicas = errors.New("changed on the primary, but too few replicas have confirmed it: nothing may run on the strength of this")

	// ErrClosed is returned after Close. Nothing was changed.
	ErrClosed = errors.New("store is closed")
)

// answered reports whether err came from the server, which then has not done what it
// was asked for.
func answered(err error) bool {
	_, ok := errors.AsType[driver.Error](err)
	return ok
}

// passing reports whether the same request may be answered a moment later: the
// connection broke, or the server is starting, or another takes its place.
func passing(err error) bool {
	if !answered(err) {
		return true
	}
	for _, prefix := range []string{
		"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK", "BUSY", "max number of clients reached",
	} {
		if driver.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// failed says what failed, for what. Errors of the driver have no arguments in them.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if driver.HasErrorPrefix(err, "WRONGTYPE") {
		err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return fmt.Errorf("redis: %s: %w", what, err)
}
