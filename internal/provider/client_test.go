package provider_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/provider"
)

// net/http sends a POST with an Idempotency-Key again, unasked, when a reused connection ends
// before the answer. At a provider that ignores keys one call is then two effects. The first
// subtest shows that the trap is real, the second that [provider.Client] is not in it.
func TestNetHTTPReplaysKeyedPosts(t *testing.T) {
	t.Parallel()
	deaf := provider.Behaviour{Case: "a", IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}}

	t.Run("http.Client makes two effects", func(t *testing.T) {
		t.Parallel()
		s, err := provider.NewServer(provider.Options{})
		require.NoError(t, err)
		h := httptest.NewServer(s)
		defer h.Close()
		c := provider.NewClient(h.URL)
		setFaults(t, c, deaf)

		naive := &http.Client{Transport: &http.Transport{}}
		defer naive.CloseIdleConnections()
		send := func(method, path, body string) error {
			req, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("X-Case", "a")
			req.Header.Set("Idempotency-Key", "k")
			res, err := naive.Do(req)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, res.Body)
			return res.Body.Close()
		}
		require.NoError(t, send(http.MethodGet, "/orders/1", "")) // leaves a connection to reuse
		require.NoError(t, send(http.MethodPost, "/refunds", `{}`))
		assert.Equal(t, provider.Stats{Requests: 2, Effects: 2}, stats(t, c, "a"))
	})

	t.Run("Client makes one", func(t *testing.T) {
		t.Parallel()
		c := start(t, provider.Options{})
		setFaults(t, c, deaf)
		_, err := c.LookupOrder(t.Context(), 1)
		require.NoError(t, err)
		_, err = c.Refund(t.Context(), provider.Call{Case: "a", Key: "k"}, refund)
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, provider.Stats{Requests: 1, Effects: 1}, stats(t, c, "a"))
	})
}

func TestDoneContextSendsNothing(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Refund(ctx, provider.Call{Case: "a"}, refund)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, provider.Stats{}, stats(t, c, "a"))
}

// A redirect would send the request a second time, to an address nobody chose.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	requests := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer h.Close()
	_, err := provider.NewClient(h.URL).Refund(t.Context(), provider.Call{}, refund)
	var status *provider.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, 1, requests)
}

func TestAskingWithoutAKeyIsAnError(t *testing.T) {
	t.Parallel()
	_, err := start(t, provider.Options{}).AskKey(t.Context(), provider.Call{Case: "a"})
	assert.ErrorContains(t, err, "key is empty")
}
