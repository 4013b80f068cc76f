package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	driver "github.com/redis/go-redis/v9"
)

// server is where the keys are: one server, or the part of a cluster with their slot.
type server struct {
	client driver.UniversalClient
	keys   keys
	opts   Options
}

// node returns the connections to the master. A pipeline of its keeps to one of them,
// which is what makes WAIT mean something, and never reads from a replica.
func (s *server) node(ctx context.Context) (*driver.Client, error) {
	switch c := s.client.(type) {
	case *driver.Client:
		return c, nil
	case *driver.ClusterClient:
		return c.MasterForKey(ctx, s.keys.format)
	}
	return nil, fmt.Errorf("%w: a %T", ErrClient, s.client)
}

// moved has the client look where the keys are now.
func (s *server) moved(ctx context.Context) {
	if c, ok := s.client.(*driver.ClusterClient); ok {
		c.ReloadState(ctx)
	}
}

// wait adds to a pipeline that the replicas are waited for, if they matter. acks is
// to be called when the pipeline has been sent.
func (s *server) wait(ctx context.Context, pipe driver.Pipeliner, durable bool) (acks func() (bool, error)) {
	if !durable || s.opts.Replicas == 0 {
		return func() (bool, error) { return s.opts.Replicas == 0, nil }
	}
	// WAIT is about what its own connection has written, and a script that finds its
	// work done by an earlier try, on another connection, writes nothing. Servers of
	// today count what it read too; nothing says that they must.
	pipe.Set(ctx, s.keys.wait, "", 0)
	waited := pipe.Do(ctx, "wait", s.opts.Replicas, s.opts.ReplicaTimeout.Milliseconds())
	return func() (bool, error) {
		n, err := waited.Int64()
		if err != nil && !answered(err) {
			return false, err
		}
		return err == nil && n >= int64(s.opts.Replicas), nil
	}
}

// check refuses a server that may throw records away.
func (s *server) check(ctx context.Context) error {
	if c, ok := s.client.(*driver.ClusterClient); ok {
		return c.ForEachMaster(ctx, checkEviction)
	}
	node, err := s.node(ctx)
	if err != nil {
		return err
	}
	return checkEviction(ctx, node)
}

func checkEviction(ctx context.Context, node *driver.Client) error {
	info, err := node.Info(ctx, "memory").Result()
	if err != nil {
		return fmt.Errorf("ask for its eviction policy: %w", err)
	}
	policy := "not told"
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, "maxmemory_policy:"); ok {
			policy = strings.TrimSpace(value)
		}
	}
	if policy != "noeviction" {
		return fmt.Errorf("%w: maxmemory-policy is %s", ErrEviction, policy)
	}
	return nil
}

// format is how records are kept. It grows when a program of before could not read them.
const format = 1

// checkFormat says which format the records of this prefix have, or claims an unused
// prefix for this one.
func (s *server) checkFormat(ctx context.Context) error {
	node, err := s.node(ctx)
	if err != nil {
		return err
	}
	if !s.opts.Existing {
		if err := node.SetNX(ctx, s.keys.format, format, 0).Err(); err != nil {
			return err
		}
	}
	there, err := node.Get(ctx, s.keys.format).Result()
	switch n, bad := strconv.Atoi(there); {
	case errors.Is(err, driver.Nil):
		return fmt.Errorf("%w %q", ErrMissing, s.opts.Prefix)
	case err != nil:
		return err
	case bad != nil || n < 1:
		return fmt.Errorf("%w: prefix %q", ErrForeign, s.opts.Prefix)
	case n > format:
		return fmt.Errorf("%w: format %d, this program knows %d", ErrNewer, n, format)
	}
	return nil
}

func readTimeout(client driver.UniversalClient) (time.Duration, error) {
	switch c := client.(type) {
	case *driver.Client:
		return c.Options().ReadTimeout, nil
	case *driver.ClusterClient:
		return c.Options().ReadTimeout, nil
	}
	return 0, fmt.Errorf("%w: a %T", ErrClient, client)
}
