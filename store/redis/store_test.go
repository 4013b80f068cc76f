package redis_test

import (
	"testing"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
	"github.com/effectonce/effectonce/store/storetest"
)

func TestMain(m *testing.M) { services.Main(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{})
	storetest.Run(t, func(t *testing.T) store.Store { return s })
}

// The contract holds when every call goes by itself.
func TestStoreWithoutTheLane(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{NoLane: true})
	storetest.Run(t, func(t *testing.T) store.Store { return s })
}

// connect returns a client of the server at a URL. It does not try again by itself:
// what a test does to a connection is then seen by the store.
func connect(t *testing.T, url string) *driver.Client {
	t.Helper()
	options, err := driver.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries = -1
	c := driver.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// open returns a store under a prefix of the test's own.
func open(t *testing.T, client driver.UniversalClient, opts redis.Options) *redis.Store {
	t.Helper()
	if opts.Prefix == "" {
		opts.Prefix = t.Name() + store.NewToken().String()
	}
	s, err := redis.New(t.Context(), client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
