package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/provider"
)

// start serves a provider over TCP until the test ends.
func start(t *testing.T, o provider.Options) *provider.Client {
	t.Helper()
	s, err := provider.NewServer(o)
	require.NoError(t, err)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		assert.NoError(t, s.Close()) // first: it ends the delays that requests are in
		h.Close()
	})
	return provider.NewClient(h.URL)
}

const snowflake = int64(1234567890123456789) // no float64 holds it

var refund = provider.RefundRequest{OrderID: snowflake, AmountCents: 500, Note: "a < b & c"}

func stats(t *testing.T, c *provider.Client, caseID string) provider.Stats {
	t.Helper()
	s, err := c.Stats(t.Context(), caseID)
	require.NoError(t, err)
	return s
}

func setFaults(t *testing.T, c *provider.Client, b provider.Behaviour) {
	t.Helper()
	require.NoError(t, c.SetFaults(t.Context(), b))
}

func TestEveryKindOfEffectIsJournaled(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx := t.Context()

	r, err := c.Refund(ctx, provider.Call{Case: "a", Key: "k1"}, refund)
	require.NoError(t, err)
	assert.Equal(t, provider.Receipt{ID: "refund-1", OrderID: snowflake}, r)
	r, err = c.Charge(ctx, provider.Call{Case: "a"}, provider.ChargeRequest{OrderID: snowflake + 1, AmountCents: 7})
	require.NoError(t, err)
	assert.Equal(t, provider.Receipt{ID: "charge-2", OrderID: snowflake + 1}, r)
	r, err = c.SendEmail(ctx, provider.Call{Case: "b"}, provider.EmailRequest{To: "bob@example.com", Template: "hello"})
	require.NoError(t, err)
	assert.Equal(t, provider.Receipt{ID: "email-3"}, r)
	r, err = c.CreateTicket(ctx, provider.Call{}, provider.TicketRequest{Customer: "bob", Topic: "refund"})
	require.NoError(t, err)
	assert.Equal(t, provider.Receipt{ID: "ticket-4"}, r)

	all, err := c.Effects(ctx, provider.Filter{})
	require.NoError(t, err)
	require.Len(t, all, 4)
	first := all[0]
	assert.False(t, first.Time.IsZero())
	first.Time = time.Time{}
	assert.Equal(t, provider.Effect{
		Sequence: 1, Kind: provider.KindRefund, Case: "a", Key: "k1",
		Body:     []byte(`{"order_id":1234567890123456789,"amount_cents":500,"note":"a \u003c b \u0026 c"}`),
		Response: []byte(`{"id":"refund-1","order_id":1234567890123456789}`),
	}, first)

	some, err := c.Effects(ctx, provider.Filter{Kind: provider.KindCharge, Case: "a"})
	require.NoError(t, err)
	require.Len(t, some, 1)
	assert.Equal(t, int64(2), some[0].Sequence)
	assert.Equal(t, provider.Stats{Requests: 2, Effects: 2}, stats(t, c, "a"))
	assert.Equal(t, provider.Stats{Requests: 4, Effects: 4}, stats(t, c, ""))
}

func TestLookupOrderKeepsAll19Digits(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	o, err := c.LookupOrder(t.Context(), snowflake)
	require.NoError(t, err)
	assert.Equal(t, snowflake, o.ID)
	_, err = c.LookupOrder(t.Context(), 0)
	var refused *provider.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, provider.Stats{}, stats(t, c, ""), "a lookup is no effect")
}

// A lost answer leaves an effect, an error that is not one of "not applied", and a provider that
// can be asked.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	tests := map[provider.Ending]func(t *testing.T, err error){
		provider.EndClose: func(t *testing.T, err error) { assert.ErrorIs(t, err, io.EOF) },
		provider.EndReset: func(t *testing.T, err error) { assert.ErrorIs(t, err, syscall.ECONNRESET) },
		provider.EndCut:   func(t *testing.T, err error) { assert.ErrorIs(t, err, io.ErrUnexpectedEOF) },
		provider.EndBadGateway: func(t *testing.T, err error) {
			var e *provider.StatusError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, http.StatusBadGateway, e.Status)
		},
	}
	for ending, check := range tests {
		t.Run(string(ending), func(t *testing.T) {
			t.Parallel()
			c := start(t, provider.Options{})
			setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Count: 1, Ending: ending}}})
			call := provider.Call{Case: "a", Key: "k"}

			_, err := c.Refund(t.Context(), call, refund)
			require.Error(t, err)
			check(t, err)
			assertUnknown(t, err)
			assert.Equal(t, provider.Stats{Requests: 1, Effects: 1}, stats(t, c, "a"))

			answer, err := c.AskKey(t.Context(), call)
			require.NoError(t, err)
			want := provider.Receipt{ID: "refund-1", OrderID: snowflake}
			assert.Equal(t, provider.Answer{Applied: true, Receipt: want}, answer)

			again, err := c.Refund(t.Context(), call, refund)
			require.NoError(t, err)
			assert.Equal(t, want, again)
			assert.Equal(t, provider.Stats{Requests: 2, Effects: 1}, stats(t, c, "a"))
		})
	}
}

// assertUnknown fails if err claims to know that nothing was applied.
func assertUnknown(t *testing.T, err error) {
	t.Helper()
	var (
		declined *provider.DeclinedError
		refused  *provider.RefusedError
	)
	assert.False(t, errors.As(err, &declined) || errors.As(err, &refused), "%v says: not applied", err)
}

func TestFailBeforeCommitAppliesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Count: 1, Ending: provider.EndFail}}})
	call := provider.Call{Case: "a", Key: "k"}

	_, err := c.Refund(t.Context(), call, refund)
	var refused *provider.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, provider.Stats{Requests: 1}, stats(t, c, "a"))
	answer, err := c.AskKey(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, provider.Answer{}, answer)

	_, err = c.Refund(t.Context(), call, refund)
	require.NoError(t, err)
	assert.Equal(t, provider.Stats{Requests: 2, Effects: 1}, stats(t, c, "a"))
}

// A refusal must mean that nothing was ever applied under the key; the key is looked up first.
func TestAppliedKeyIsNeverRefused(t *testing.T) {
	t.Parallel()
	for _, ending := range []provider.Ending{provider.EndFail, provider.EndDecline} {
		t.Run(string(ending), func(t *testing.T) {
			t.Parallel()
			c := start(t, provider.Options{})
			call := provider.Call{Case: "a", Key: "k"}
			first, err := c.Refund(t.Context(), call, refund)
			require.NoError(t, err)
			setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Ending: ending}}})
			second, err := c.Refund(t.Context(), call, refund)
			require.NoError(t, err)
			assert.Equal(t, first, second)
		})
	}
}

func TestDeclineStaysUnderItsKeyAfterTheCardIsFixed(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx := t.Context()
	charge := func(key string) error {
		_, err := c.Charge(ctx, provider.Call{Case: "a", Key: key}, provider.ChargeRequest{OrderID: 1, AmountCents: 500})
		return err
	}
	var declined *provider.DeclinedError

	setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Ending: provider.EndDecline}}})
	require.ErrorAs(t, charge("k"), &declined)
	assert.Equal(t, "card_declined", declined.Code)
	require.ErrorAs(t, charge(""), &declined)

	setFaults(t, c, provider.Behaviour{Case: "a"})
	require.ErrorAs(t, charge("k"), &declined)
	assert.Equal(t, 0, stats(t, c, "a").Effects)
	require.NoError(t, charge("k-2"))
	assert.Equal(t, 1, stats(t, c, "a").Effects)
}

func TestSameKeyWithAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx, call := t.Context(), provider.Call{Case: "a", Key: "k"}
	_, err := c.Refund(ctx, call, refund)
	require.NoError(t, err)

	other := refund
	other.OrderID++
	_, err = c.Refund(ctx, call, other)
	var reused *provider.KeyReusedError
	require.ErrorAs(t, err, &reused)
	assertUnknown(t, err)
	_, err = c.Charge(ctx, call, provider.ChargeRequest(refund))
	require.ErrorAs(t, err, &reused, "the same body, but another endpoint")
	assert.Equal(t, 1, stats(t, c, "a").Effects)
}

func TestSameKey50AtOnceIsOneEffect(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	// Slow, so that all 50 are there before the first one commits.
	setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{{Before: 200 * time.Millisecond}}})
	receipts, errs := at50(t.Context(), c, provider.Call{Case: "a", Key: "k"})
	for i := range receipts {
		require.NoError(t, errs[i])
		assert.Equal(t, receipts[0], receipts[i])
	}
	assert.Equal(t, provider.Stats{Requests: 50, Effects: 1}, stats(t, c, "a"))
}

func TestIgnoredKey50AtOnceIs50Effects(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	setFaults(t, c, provider.Behaviour{Case: "a", IgnoreKeys: true})
	receipts, errs := at50(t.Context(), c, provider.Call{Case: "a", Key: "k"})
	seen := map[string]bool{}
	for i := range receipts {
		require.NoError(t, errs[i])
		seen[receipts[i].ID] = true
	}
	assert.Len(t, seen, 50)
	assert.Equal(t, provider.Stats{Requests: 50, Effects: 50}, stats(t, c, "a"))
}

// at50 makes the same refund 50 times at once.
func at50(ctx context.Context, c *provider.Client, call provider.Call) (receipts [50]provider.Receipt, errs [50]error) {
	var wg sync.WaitGroup
	barrier := make(chan struct{})
	for i := range receipts {
		wg.Go(func() {
			<-barrier
			receipts[i], errs[i] = c.Refund(ctx, call, refund)
		})
	}
	close(barrier)
	wg.Wait()
	return receipts, errs
}

func TestFaultsApplyToTheirCaseKindAndCount(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx := t.Context()
	setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{
		{Kind: provider.KindEmail, Count: 2, Ending: provider.EndFail},
		{Kind: provider.KindEmail, Count: 1, Ending: provider.EndClose},
	}})
	mail := func(caseID string) error {
		_, err := c.SendEmail(ctx, provider.Call{Case: caseID}, provider.EmailRequest{To: "bob@example.com"})
		return err
	}
	_, err := c.Refund(ctx, provider.Call{Case: "a"}, refund)
	require.NoError(t, err, "another kind")
	require.NoError(t, mail("b"), "another case")
	var refused *provider.RefusedError
	require.ErrorAs(t, mail("a"), &refused)
	require.ErrorAs(t, mail("a"), &refused)
	require.ErrorIs(t, mail("a"), io.EOF)
	require.NoError(t, mail("a"))

	setFaults(t, c, provider.Behaviour{Faults: []provider.Fault{{Ending: provider.EndFail}}})
	require.ErrorAs(t, mail("c"), &refused, "the empty case stands for every other case")
	require.NoError(t, mail("a"), "which has its own")
}

func TestQuestionsCanBeRefused(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	ctx := t.Context()
	setFaults(t, c, provider.Behaviour{Case: "a", RefuseQuestions: true})
	_, err := c.Refund(ctx, provider.Call{Case: "a", Key: "k"}, refund)
	require.NoError(t, err)

	for _, call := range []provider.Call{{Key: "k"}, {Case: "a", Key: "k"}, {Case: "a", Key: "never sent"}} {
		answer, err := c.AskKey(ctx, call)
		require.NoError(t, err)
		assert.Equal(t, provider.Answer{CannotTell: true}, answer, "%+v", call)
	}
	answer, err := c.AskKey(ctx, provider.Call{Case: "b", Key: "never sent"})
	require.NoError(t, err)
	assert.Equal(t, provider.Answer{}, answer)
}

// The caller gives up, the provider commits all the same: an answer too slow is a lost answer.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]provider.Fault{
		"before the commit": {Before: time.Second},
		"after the commit":  {After: time.Minute},
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, provider.Options{})
			setFaults(t, c, provider.Behaviour{Case: "a", Faults: []provider.Fault{fault}})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := c.Refund(ctx, provider.Call{Case: "a", Key: "k"}, refund)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			if fault.Before > 0 {
				answer, err := c.AskKey(t.Context(), provider.Call{Key: "k"})
				require.NoError(t, err)
				assert.Equal(t, provider.Answer{}, answer, "not applied yet")
			}
			require.Eventually(t, func() bool {
				s, err := c.Stats(t.Context(), "a")
				return err == nil && s.Effects == 1
			}, 10*time.Second, 20*time.Millisecond)
		})
	}
}

func TestImpossibleFaultsAreRefused(t *testing.T) {
	t.Parallel()
	c := start(t, provider.Options{})
	for _, f := range []provider.Fault{{Ending: "explode"}, {Kind: "holiday"}, {Count: -1}, {Before: -1}} {
		err := c.SetFaults(t.Context(), provider.Behaviour{Faults: []provider.Fault{f}})
		assert.ErrorContains(t, err, "faults[0]", "%+v", f)
	}
}

func TestBadBodyIsRefused(t *testing.T) {
	t.Parallel()
	s, err := provider.NewServer(provider.Options{})
	require.NoError(t, err)
	h := httptest.NewServer(s)
	defer h.Close()
	for _, body := range []string{"", "{", "[1]", "7", strings.Repeat(" ", 1<<20) + "{}"} {
		res, err := http.Post(h.URL+"/refunds", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusBadRequest, res.StatusCode)
	}
	assert.Equal(t, provider.Stats{}, stats(t, provider.NewClient(h.URL), ""))
}
