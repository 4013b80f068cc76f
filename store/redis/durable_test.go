package redis_test

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
)

// With appendfsync always, kill -9 takes nothing that was acknowledged.
func TestAcknowledgedClaimsSurviveKill(t *testing.T) {
	t.Parallel()
	server := serve(t)
	s := open(t, server.connect(), redis.Options{Timeout: 100 * time.Millisecond})
	var mu sync.Mutex
	var acknowledged []store.Record
	var working sync.WaitGroup
	for range 16 {
		working.Go(func() {
			for {
				q := request()
				r, err := s.Claim(t.Context(), q)
				if err != nil {
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, r)
				mu.Unlock()
			}
		})
	}
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(acknowledged) > 500 }, 30*time.Second, time.Millisecond)
	server.child.Kill()
	working.Wait()
	server.start()

	for _, want := range acknowledged {
		got, err := s.Get(t.Context(), want.Ref)
		require.NoError(t, err)
		got.Now = want.Now
		require.Equal(t, want, got)
	}
	t.Logf("%d acknowledged claims are there", len(acknowledged))
}

// A server that was started again knows no script any more.
func TestServerThatWasRestartedIsSentTheScriptsAgain(t *testing.T) {
	t.Parallel()
	server := serve(t)
	s := open(t, server.connect(), redis.Options{})
	q := request()
	r := claim(t, s, q)
	server.stop()
	answer := make(chan error)
	go func() { // a call during the outage waits for its end
		_, err := s.Report(t.Context(), r.Claim(), done("x"))
		answer <- err
	}()
	server.start()
	require.NoError(t, <-answer)
	_, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
	require.NoError(t, err)
	require.Equal(t, []store.Verb{store.Claimed, store.Complete}, verbs(t, s, q.Ref))

	require.NoError(t, server.connect().ScriptFlush(t.Context()).Err())
	var working sync.WaitGroup
	for range 50 { // all in one pipeline, and none known
		working.Go(func() {
			q := request()
			r, err := s.Claim(t.Context(), q)
			if err != nil || r.Token != q.Token {
				t.Errorf("Claim: %v", err)
			}
		})
	}
	working.Wait()
}

func TestServerThatStaysAwayIsAnError(t *testing.T) {
	t.Parallel()
	server := serve(t)
	s := open(t, server.connect(), redis.Options{Timeout: 200 * time.Millisecond})
	server.stop()
	r, err := s.Claim(t.Context(), request())
	require.Error(t, err)
	require.Zero(t, r)
	for _, definite := range []error{store.ErrNotFound, store.ErrConflict, store.ErrCorrupt, store.ErrLeaseLost} {
		require.False(t, errors.Is(err, definite), err)
	}
	require.Regexp(t, "^redis: claim eo1_[0-9a-f]{64}: ", err.Error())
}

// A claim that the replica does not have is not handed out, on whatever connection it
// is asked for again; and it is, to the same token, once the replica has it.
func TestClaimWithoutReplicaIsNobodysToRun(t *testing.T) {
	t.Parallel()
	primary, replica := serve(t), serve(t)
	replica.replicate(primary)
	opts := redis.Options{Replicas: 1, ReplicaTimeout: 100 * time.Millisecond, Prefix: "replicated"}
	s := open(t, primary.connect(), opts)
	sound := claim(t, s, request())

	for name, outage := range map[string]struct{ begin, end func() }{
		"down": {replica.stop, func() {
			replica.start()
			replica.replicate(primary)
		}},
		// It is connected, and counts as a replica: but it has not confirmed anything.
		"lagging": {func() { require.NoError(t, replica.child.Signal(syscall.SIGSTOP)) }, func() {
			require.NoError(t, replica.child.Signal(syscall.SIGCONT))
			replica.inSync(primary)
		}},
	} {
		t.Log(name)
		q := request()
		outage.begin()
		for range 2 {
			r, err := open(t, primary.connect(), opts).Claim(t.Context(), q)
			require.ErrorIs(t, err, redis.ErrReplicas, name)
			require.Zero(t, r, name)
		}
		_, err := s.Report(t.Context(), sound.Claim(), store.Change{Verb: store.MarkUnknown})
		require.ErrorIs(t, err, redis.ErrReplicas, name)
		_, err = s.TakeOver(t.Context(), again(q), sound)
		require.ErrorIs(t, err, store.ErrConflict, name) // what is definite is said
		// Reading needs no replica, and a renewal promises nothing.
		got, err := s.Get(t.Context(), q.Ref)
		require.NoError(t, err, name)
		require.Equal(t, q.Token, got.Token, name)
		lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{got.Claim()})
		require.NoError(t, err, name)
		require.Empty(t, lost, name)
		outage.end()
		r := claim(t, s, q)
		require.EqualValues(t, 1, r.Fence, name)
		_, err = s.Report(t.Context(), sound.Claim(), store.Change{Verb: store.MarkUnknown})
		require.NoError(t, err, name)
		require.Equal(t, []store.Verb{store.Claimed}, verbs(t, s, q.Ref), name)
	}
}

// Confirmed claims are on the replica that takes over. The others may be lost: that
// is why they are not handed out.
func TestConfirmedClaimsSurviveFailover(t *testing.T) {
	t.Parallel()
	primary, replica := serve(t), serve(t)
	replica.replicate(primary)
	opts := redis.Options{Replicas: 1, ReplicaTimeout: 2 * time.Second, Prefix: "replicated"}
	s := open(t, primary.connect(), opts)
	var confirmed []store.Record
	for range 200 {
		confirmed = append(confirmed, claim(t, s, request()))
	}
	primary.child.Kill()
	require.NoError(t, replica.connect().ReplicaOf(t.Context(), "NO", "ONE").Err())
	s = open(t, replica.connect(), redis.Options{Prefix: "replicated", Existing: true})
	for _, want := range confirmed {
		got, err := s.Get(t.Context(), want.Ref)
		require.NoError(t, err)
		require.Equal(t, want.Claim(), got.Claim())
	}
	_, err := s.Claim(t.Context(), again(request()))
	require.NoError(t, err)
}

// A store of a cluster is on one node. A client that does not know which finds it.
func TestCluster(t *testing.T) {
	t.Parallel()
	server := serve(t, "--cluster-enabled", "yes")
	node := server.connect()
	require.NoError(t, node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		info, err := node.ClusterInfo(t.Context()).Result()
		return err == nil && len(info) > 16 && info[:16] == "cluster_state:ok"
	}, 30*time.Second, 10*time.Millisecond)
	c := driver.NewClusterClient(&driver.ClusterOptions{Addrs: []string{server.address()}})
	t.Cleanup(func() { _ = c.Close() })
	s := open(t, c, redis.Options{})
	q := request()
	q.Scheduled[0], q.Retention = 7, time.Hour
	r := claim(t, s, q)
	_, err := s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	page, err := s.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, page, 1)

	none := open(t, c, redis.Options{Replicas: 1, ReplicaTimeout: 10 * time.Millisecond})
	_, err = none.Claim(t.Context(), request())
	require.ErrorIs(t, err, redis.ErrReplicas)
}
