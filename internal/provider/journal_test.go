package provider_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/provider"
)

// session runs f with a provider on a journal and ends it.
func session(t *testing.T, journal string, f func(c *provider.Client)) {
	t.Helper()
	s, err := provider.NewServer(provider.Options{Journal: journal})
	require.NoError(t, err)
	h := httptest.NewServer(s)
	f(provider.NewClient(h.URL))
	h.Close()
	require.NoError(t, s.Close())
}

func TestEffectsAndKeysSurviveARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	ctx, call := t.Context(), provider.Call{Case: "a", Key: "k"}
	var (
		first  provider.Receipt
		before []provider.Effect
	)
	session(t, path, func(c *provider.Client) {
		var err error
		first, err = c.Refund(ctx, call, refund)
		require.NoError(t, err)
		before, err = c.Effects(ctx, provider.Filter{})
		require.NoError(t, err)
	})
	session(t, path, func(c *provider.Client) {
		after, err := c.Effects(ctx, provider.Filter{})
		require.NoError(t, err)
		assert.Equal(t, before, after)
		again, err := c.Refund(ctx, call, refund)
		require.NoError(t, err)
		assert.Equal(t, first, again)
		next, err := c.Refund(ctx, provider.Call{Case: "a"}, refund)
		require.NoError(t, err)
		assert.Equal(t, "refund-2", next.ID)
	})
}

// The journal must give back the bytes it was given: the next request is compared with them.
func TestKeyIsFoundAgainWhateverItsBody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	for range 2 {
		s, err := provider.NewServer(provider.Options{Journal: path})
		require.NoError(t, err)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/emails", strings.NewReader(`{ "body": "1 < 2 & \u00e9 é \u2028" }`))
		r.Header.Set("Idempotency-Key", "k")
		s.ServeHTTP(w, r)
		assert.Equal(t, `{"id":"email-1"}`, w.Body.String())
		require.NoError(t, s.Close())
	}
}

func TestHalfWrittenLastLineIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	session(t, path, func(c *provider.Client) {
		_, err := c.Refund(t.Context(), provider.Call{}, refund)
		require.NoError(t, err)
	})
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"sequence":2,"kind":"ref`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	for range 2 { // the second time to see that what was appended after the cut is whole
		session(t, path, func(c *provider.Client) {
			_, err := c.Refund(t.Context(), provider.Call{}, refund)
			require.NoError(t, err)
		})
	}
	session(t, path, func(c *provider.Client) {
		all, err := c.Effects(t.Context(), provider.Filter{})
		require.NoError(t, err)
		assert.Len(t, all, 3)
	})
}

func TestForeignLineInTheJournalIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{}\nnot ours\n"), 0o600))
	_, err := provider.NewServer(provider.Options{Journal: path})
	assert.ErrorContains(t, err, "line 2")
}

func TestResetForgetsEverything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	ctx, call := t.Context(), provider.Call{Case: "a", Key: "k"}
	session(t, path, func(c *provider.Client) {
		_, err := c.Refund(ctx, call, refund)
		require.NoError(t, err)
		setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Ending: provider.EndDecline}}})
		_, err = c.Refund(ctx, provider.Call{Case: "a", Key: "declined"}, refund)
		require.Error(t, err)

		require.NoError(t, c.Reset(ctx))
		assert.Equal(t, provider.Stats{}, stats(t, c, ""))
		_, err = c.Refund(ctx, provider.Call{Case: "a", Key: "declined"}, refund)
		require.NoError(t, err)
	})
	session(t, path, func(c *provider.Client) {
		assert.Equal(t, 1, stats(t, c, "").Effects)
	})
}
