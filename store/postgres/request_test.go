package postgres_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
)

// request asks for an action that nobody has asked for before.
func request() store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "tenant", ScopeID: "acme", Tenant: "acme",
		Operation: "Refund", WorkflowID: "order-7", RunID: "run-1", Attempt: 1,
		Lease: time.Hour, Remaining: time.Hour, Who: "worker-1",
	}
	rand.Read(q.Root[:])
	rand.Read(q.Key[:])
	rand.Read(q.Fingerprint[:])
	return q
}

// again is another attempt at the action of q.
func again(q store.Request) store.Request {
	q.Token = store.NewToken()
	q.Attempt++
	return q
}

func done(data string) store.Change {
	return store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "text", Data: []byte(data)}}
}

func claim(t testing.TB, s store.Store, q store.Request) store.Record {
	t.Helper()
	r, err := s.Claim(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, store.InFlight, r.State)
	require.Equal(t, q.Token, r.Token)
	return r
}

func report(t testing.TB, s store.Store, held store.Claim, c store.Change) store.Record {
	t.Helper()
	r, err := s.Report(t.Context(), held, c)
	require.NoError(t, err)
	return r
}

// story returns the verbs of a record's history.
func story(t testing.TB, s store.Historian, ref store.Ref) (verbs []store.Verb) {
	t.Helper()
	entries, err := s.History(t.Context(), ref)
	require.NoError(t, err)
	for _, e := range entries {
		verbs = append(verbs, e.Verb)
	}
	return verbs
}
