package redis_test

import (
	"math"
	"strings"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
)

func TestServerThatMayEvictIsRefused(t *testing.T) {
	t.Parallel()
	server := serve(t)
	client := server.connect()
	for _, policy := range []string{"allkeys-lru", "allkeys-random", "volatile-lru", "volatile-ttl"} {
		require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		_, err := redis.New(t.Context(), client, redis.Options{})
		require.ErrorIs(t, err, redis.ErrEviction)
		require.ErrorContains(t, err, policy)
	}
	n, err := client.DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.Zero(t, n, "a server that was refused has been written to")
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
	open(t, client, redis.Options{})

	require.NoError(t, client.Do(t.Context(), "acl", "setuser", "default", "-info").Err())
	_, err = redis.New(t.Context(), client, redis.Options{})
	require.ErrorContains(t, err, "NOPERM") // not knowing is no yes
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	url := services.Redis(t)
	slow, err := driver.ParseURL(url)
	require.NoError(t, err)
	slow.ReadTimeout = -1
	for says, c := range map[string]struct {
		client driver.UniversalClient
		opts   redis.Options
		want   error
	}{
		"Prefix":                       {opts: redis.Options{Prefix: "a{b}"}},
		"Replicas":                     {opts: redis.Options{Replicas: -1}},
		"Timeout must":                 {opts: redis.Options{Timeout: time.Millisecond}},
		"ReplicaTimeout must":          {opts: redis.Options{ReplicaTimeout: time.Microsecond}},
		"less than the client's":       {opts: redis.Options{Replicas: 1, ReplicaTimeout: time.Minute}},
		"ReadTimeout must be positive": {client: driver.NewClient(slow)},
		"*redis.Ring":                  {client: driver.NewRing(&driver.RingOptions{}), want: redis.ErrClient},
		"nil":                          {client: nil, want: redis.ErrClient},
	} {
		if c.client == nil && c.want == nil {
			c.client = connect(t, url)
		}
		if c.want == nil {
			c.want = store.ErrInvalid
		}
		_, err := redis.New(t.Context(), c.client, c.opts)
		require.ErrorIs(t, err, c.want, says)
		require.ErrorContains(t, err, says)
		if c.client != nil {
			_ = c.client.Close()
		}
	}
}

func TestFormatsAreTold(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	for value, want := range map[string]error{"": redis.ErrMissing, "2": redis.ErrNewer, "their own": redis.ErrForeign} {
		opts := redis.Options{Prefix: "format" + value, Existing: value == ""}
		if value != "" {
			require.NoError(t, client.Set(t.Context(), "{"+opts.Prefix+"}:format", value, 0).Err())
		}
		_, err := redis.New(t.Context(), client, opts)
		require.ErrorIs(t, err, want)
	}
	n, err := client.DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.EqualValues(t, 2, n, "Existing has made something")
}

// Everything is under the prefix, in one slot of a cluster, and lasts.
func TestKeysAreInOneSlotAndHaveNoEnd(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	s, neighbour := open(t, client, redis.Options{Prefix: "one"}), open(t, client, redis.Options{Prefix: "other"})
	q := request()
	q.Scheduled[0], q.Retention = 7, time.Hour
	r := claim(t, s, q)
	claim(t, s, request())
	_, err := s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	_, err = neighbour.Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
	all, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Len(t, all, 10) // two records, two histories, four indexes, two formats
	for _, name := range all {
		require.True(t, strings.HasPrefix(name, "{one}:") || name == "{other}:format", name)
		ttl, err := client.TTL(t.Context(), name).Result()
		require.NoError(t, err)
		require.EqualValues(t, -1, ttl, name)
	}
}

func TestRootIsAFunctionOfTheKey(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{})
	q := request()
	r := claim(t, s, q)
	q.Root[0]++
	_, err := s.Claim(t.Context(), again(q))
	require.ErrorIs(t, err, store.ErrInvalid)
	_, err = s.Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
	held := r.Claim()
	held.Ref = q.Ref
	lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{held})
	require.NoError(t, err)
	require.Len(t, lost, 1)
}

// The numbers of a script have 53 bits: less than 300 years in microseconds need.
func TestTimesFarAwayAreExact(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{})
	const far = time.Duration(math.MaxInt64)
	q := request()
	q.Lease, q.Remaining, q.Retention = far-1000, far-3000, far-5000
	r := claim(t, s, q)
	want := q.First(r.Now)
	require.Equal(t, want, r)
	got, err := s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	got.Now = r.Now
	require.Equal(t, want, got)
	require.Equal(t, []store.Verb{store.Claimed}, verbs(t, s, q.Ref))
	page, err := s.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, page, 1)

	lost, err := s.Renew(t.Context(), far, []store.Claim{r.Claim()})
	require.NoError(t, err)
	require.Empty(t, lost)
	_, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	n, err := s.Expire(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, n)
}
