package redis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
)

// A record that cannot be read must never look like one that is not there: its action
// would be run again.
func TestRecordThatMakesNoSenseIsCorruptNotMissing(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]any{
		"State":       {"hset", "state", "done"},
		"Token":       {"hset", "token", "\x01\x02"},
		"Fingerprint": {"hset", "fingerprint", "\x00"},
		"Scheduled":   {"hset", "scheduled", "\x00"},
		"Root":        {"hset", "root", "\x01"},
		"Request":     {"hset", "request", "4:acme"},
		"NoRequest":   {"hdel", "request"},
		"Version":     {"hdel", "version"},
		"Fence":       {"hset", "fence", "0"},
		"Generation":  {"hset", "generation", "x"},
		"Lease":       {"hdel", "lease"},
		"Created":     {"hset", "created", "yesterday"},
		"Retention":   {"hset", "retention", "-1"},
		"Deadline":    {"hset", "deadline", "soon"},
		"Finished":    {"hset", "finished", "1"},
		"Outcome":     {"hset", "format", "text"},
		"Type":        {"set", "x"},
		"Deleted":     {"del"},
		"Evicted":     {"pexpire", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connect(t, services.Redis(t))
			s := open(t, client, redis.Options{})
			later := open(t, client, redis.Options{Prefix: s.Prefix()}) // who has claimed it remembers what it was
			q, sound := request(), request()
			q.Scheduled[0] = 7
			r := claim(t, s, q)
			other := claim(t, s, sound)
			record := "{" + s.Prefix() + "}:record:" + q.Key.String()
			require.NoError(t, client.Do(t.Context(), append([]any{damage[0], record}, damage[1:]...)...).Err())
			require.Eventually(t, func() bool { // the one that expires has expired
				return client.PTTL(t.Context(), record).Val() < 0
			}, 10*time.Second, time.Millisecond)
			gone := name == "Deleted" || name == "Evicted"

			before, _ := client.Dump(t.Context(), record).Result()
			again := again(q)
			for call, f := range map[string]func() error{
				"Get":           func() error { _, err := s.Get(t.Context(), q.Ref); return err },
				"Claim":         func() error { _, err := s.Claim(t.Context(), q); return err },
				"another Claim": func() error { _, err := s.Claim(t.Context(), again); return err },
				"TakeOver":      func() error { _, err := s.TakeOver(t.Context(), again, r); return err },
				"Report":        func() error { _, err := later.Report(t.Context(), r.Claim(), done("x")); return err },
				"Amend": func() error {
					_, err := s.Amend(t.Context(), r, store.Change{Verb: store.Forget, Force: true, Who: "operator"})
					return err
				},
				"Lookup": func() error {
					_, err := s.Lookup(t.Context(), q.Key)
					if gone { // by its key alone, nobody knows where it has been
						require.ErrorIs(t, err, store.ErrNotFound)
						err = store.ErrCorrupt
					}
					return err
				},
				"List":    func() error { _, err := s.List(t.Context(), store.Filter{}); return err },
				"History": func() error { _, err := s.History(t.Context(), q.Ref); return err },
			} {
				err := f()
				require.ErrorIs(t, err, store.ErrCorrupt, call)
				require.NotErrorIs(t, err, store.ErrNotFound, call)
			}
			after, err := client.Dump(t.Context(), record).Result()
			if !gone {
				require.NoError(t, err)
				require.Equal(t, before, after, "it was changed")
			}
			// It does not keep its neighbours from living on. A renewal looks at the claim only.
			lost, err := s.Renew(t.Context(), 2*time.Hour, []store.Claim{r.Claim(), other.Claim()})
			require.Empty(t, lost)
			if seenByRenew[name] {
				require.ErrorIs(t, err, store.ErrCorrupt)
			} else {
				require.NoError(t, err)
			}
			got, err := s.Get(t.Context(), other.Ref)
			require.NoError(t, err)
			require.Greater(t, got.Lease.Sub(got.Now), time.Hour)
		})
	}
}

var seenByRenew = map[string]bool{
	"State": true, "Token": true, "Fence": true, "Lease": true, "Version": true, "Root": true, "Type": true, "Deleted": true, "Evicted": true,
}

func TestCorruptRecordDoesNotKeepOthersFromBeingSwept(t *testing.T) {
	t.Parallel()
	client := connect(t, services.Redis(t))
	s := open(t, client, redis.Options{})
	var all []store.Request
	for range 5 {
		q := request()
		q.Lease = time.Microsecond
		claim(t, s, q)
		all = append(all, q)
	}
	require.NoError(t, client.HSet(t.Context(), "{"+s.Prefix()+"}:record:"+all[0].Key.String(), "state", "x").Err())
	n, err := s.Sweep(t.Context(), 2)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Equal(t, 2, n)
	n, err = s.Sweep(t.Context(), 10)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Equal(t, 2, n)
	for _, q := range all[1:] {
		r, err := s.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		require.Equal(t, store.Unknown, r.State)
	}
}

// A script is not undone when a command in it fails: the first write must be the one
// that is refused.
func TestServerOutOfMemoryChangesNothing(t *testing.T) {
	t.Parallel()
	server := serve(t)
	client := server.connect()
	s := open(t, client, redis.Options{})
	q, overdue := request(), request()
	q.Retention, overdue.Lease = time.Hour, time.Microsecond
	held := claim(t, s, q)
	claim(t, s, overdue)
	seen, err := s.Get(t.Context(), overdue.Ref)
	require.NoError(t, err)
	state := func() map[string]any {
		all := map[string]any{}
		names, err := client.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		for _, name := range names {
			dump, err := client.Dump(t.Context(), name).Result()
			require.NoError(t, err)
			all[name] = dump
		}
		return all
	}
	before := state()
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for call, f := range map[string]func() error{
		"Claim":    func() error { _, err := s.Claim(t.Context(), request()); return err },
		"Complete": func() error { _, err := s.Report(t.Context(), held.Claim(), done("x")); return err },
		"Release": func() error {
			_, err := s.Report(t.Context(), held.Claim(), store.Change{Verb: store.Release})
			return err
		},
		"TakeOver": func() error { _, err := s.TakeOver(t.Context(), again(overdue), seen); return err },
		"Sweep":    func() error { _, err := s.Sweep(t.Context(), 10); return err },
		"Renew":    func() error { _, err := s.Renew(t.Context(), time.Hour, []store.Claim{held.Claim()}); return err },
	} {
		require.ErrorContains(t, f(), "OOM", call)
	}
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.Equal(t, before, state())
	_, err = s.Report(t.Context(), held.Claim(), done("x"))
	require.NoError(t, err)
}
