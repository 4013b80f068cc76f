package redis_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/redis"
	"github.com/effectonce/effectonce/store/storetest"
)

// relay claims in one process and reports in another, which remembers nothing.
type relay struct {
	*redis.Store
	other *redis.Store
}

func (r relay) Report(ctx context.Context, held store.Claim, ch store.Change) (store.Record, error) {
	return r.other.Report(ctx, held, ch)
}

func newRelay(t *testing.T) relay {
	t.Helper()
	client := connect(t, services.Redis(t))
	s := open(t, client, redis.Options{})
	return relay{s, open(t, client, redis.Options{Prefix: s.Prefix()})}
}

// The contract holds for reports by those who remember nothing; TestStore is with the
// others.
func TestStoreThatReportsElsewhere(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	storetest.Run(t, func(*testing.T) store.Store { return s })
}

// What comes of a remembered claim is what comes of one that is read.
func TestReportIsTheSameFromMemory(t *testing.T) {
	t.Parallel()
	for name, retention := range map[string]time.Duration{"Kept": 0, "Retained": time.Hour + 1500*time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			elsewhere := newRelay(t)
			var lines [][]store.Entry
			for _, s := range []store.Store{elsewhere.Store, elsewhere} {
				q := request()
				q.Retention, q.Remaining, q.Lease = retention, time.Hour+1, time.Hour+1
				q.Fields, q.Tenant, q.Intent = []byte("fields"), "acme", "twice"
				r := claim(t, s, q)
				clear(q.Fields) // they are the caller's
				outcome := &store.Outcome{Format: "text", Data: []byte("data"), Context: []byte("context")}
				reported, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Complete, Outcome: outcome, Who: "worker-2", Why: "done"})
				require.NoError(t, err)
				require.Equal(t, "fields", string(reported.Fields))

				stored, err := s.Get(t.Context(), q.Ref)
				require.NoError(t, err)
				stored.Now = reported.Now
				require.Equal(t, stored, reported)
				again, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Complete, Outcome: outcome, Who: "worker-2", Why: "done"})
				require.NoError(t, err)
				again.Now = reported.Now
				require.Equal(t, reported, again)

				history, err := elsewhere.History(t.Context(), q.Ref)
				require.NoError(t, err)
				require.Equal(t, reported.Finished, history[1].At)
				for i := range history {
					history[i].At, history[i].Ref, history[i].Token = time.Time{}, store.Ref{}, store.Token{}
				}
				lines = append(lines, history)
			}
			require.Equal(t, lines[0], lines[1])
		})
	}
}

// A claim that has changed since it was made is read.
func TestRememberedClaimThatHasChanged(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t, services.Redis(t)), redis.Options{})
	t.Run("Renewed", func(t *testing.T) {
		t.Parallel()
		r := claim(t, s, request())
		_, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
		require.NoError(t, err)
		r, err = s.Report(t.Context(), r.Claim(), done("late"))
		require.NoError(t, err)
		require.Equal(t, store.Completed, r.State)
	})
	t.Run("Resolved", func(t *testing.T) {
		t.Parallel()
		r := claim(t, s, request())
		_, err := s.Amend(t.Context(), r, store.Change{Verb: store.Complete, Outcome: done("resolved").Outcome, Who: "operator", Why: "asked", Force: true})
		require.NoError(t, err)
		_, err = s.Report(t.Context(), r.Claim(), done("late"))
		require.ErrorIs(t, err, store.ErrLeaseLost)
		r, err = s.Get(t.Context(), r.Ref)
		require.NoError(t, err)
		require.Equal(t, "resolved", string(r.Outcome.Data))
	})
}
