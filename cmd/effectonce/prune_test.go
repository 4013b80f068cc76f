package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// Records of runs go, those of chains only if it is said, others never.
func TestPrune(t *testing.T) {
	now := time.Now()
	s := memory.New(memory.Options{Clock: func() time.Time { return now }})
	finish := func(kind string) {
		q := store.Request{
			Ref: store.Ref{Root: [16]byte{1}}, Token: store.NewToken(), Namespace: "default", ScopeKind: kind, ScopeID: "x",
			Operation: "Refund", Attempt: 1, Fingerprint: store.Digest{1}, Lease: time.Minute, Remaining: time.Minute,
		}
		copy(q.Key[:], kind)
		r, err := s.Claim(context.Background(), q)
		require.NoError(t, err)
		_, err = s.Report(context.Background(), r.Claim(), store.Change{Verb: store.Complete, Outcome: plain("1")})
		require.NoError(t, err)
	}
	for _, kind := range []string{"call", "run", "shadow:run", "scheduled", "chain", "action", "tenant"} {
		finish(kind)
	}
	now = now.Add(25 * time.Hour)
	prune := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := run(s, append([]string{"prune", "--older-than"}, args...)...)
		require.Zero(t, code, stderr)
		require.Equal(t, want, stdout)
	}
	prune("records deleted: 0\n", "26h")
	prune("records deleted: 1; there may be more, run it again\n", "24h", "--limit", "1")
	prune("records deleted: 3\n", "24h")
	prune("records deleted: 0\n", "24h")
	prune("records deleted: 2\n", "24h", "--chains")
	left, err := s.List(context.Background(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "tenant", left[0].ScopeKind)
}
