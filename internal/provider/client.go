package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Client talks to a [Server]. Nothing is retried: one call sends one request.
type Client struct {
	base string
	http *http.Client
}

// Call says in whose name a request is made.
type Call struct {
	// Case groups requests in the provider's journal; may be empty.
	Case string
	// Key is sent as Idempotency-Key; empty sends none.
	Key string
}

// Filter selects effects. Empty fields select all.
type Filter struct {
	Kind Kind
	Case string
}

// Stats counts what a provider has seen.
type Stats struct {
	Requests int `json:"requests"` // requests for effects received
	Effects  int `json:"effects"`  // effects committed
}

// Answer is what the provider says about a key. In the zero value nothing was applied.
type Answer struct {
	// CannotTell: the provider answers no questions about keys.
	CannotTell bool
	// Applied: there was an effect under the key. Not applied means not yet: a request that is
	// still under way may be applied later.
	Applied bool
	// Receipt is what the effect was answered with.
	Receipt Receipt
}

// NewClient returns a client of the provider at base, such as "http://127.0.0.1:8080".
//
// Every call has its own connection. net/http sends a request with an Idempotency-Key header again,
// unasked, when a reused connection ends before the answer; at a provider that ignores the header
// one call would be two effects.
func NewClient(base string) *Client {
	return &Client{
		base: base,
		http: &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Refund pays money back. For its errors, as for those of the other effects, see the package doc.
func (c *Client) Refund(ctx context.Context, call Call, r RefundRequest) (Receipt, error) {
	return c.effect(ctx, "/refunds", call, r)
}

// Charge takes money.
func (c *Client) Charge(ctx context.Context, call Call, r ChargeRequest) (Receipt, error) {
	return c.effect(ctx, "/charges", call, r)
}

// SendEmail sends a mail.
func (c *Client) SendEmail(ctx context.Context, call Call, r EmailRequest) (Receipt, error) {
	return c.effect(ctx, "/emails", call, r)
}

// CreateTicket opens a ticket.
func (c *Client) CreateTicket(ctx context.Context, call Call, r TicketRequest) (Receipt, error) {
	return c.effect(ctx, "/tickets", call, r)
}

func (c *Client) effect(ctx context.Context, path string, call Call, request any) (Receipt, error) {
	var r Receipt
	err := c.do(ctx, http.MethodPost, path, call, request, &r)
	return r, err
}

// LookupOrder reads an order. It changes nothing.
func (c *Client) LookupOrder(ctx context.Context, id int64) (Order, error) {
	var o Order
	err := c.do(ctx, http.MethodGet, "/orders/"+strconv.FormatInt(id, 10), Call{}, nil, &o)
	return o, err
}

// AskKey asks what happened under a key. An empty case leaves it to the provider which case the
// question belongs to: the one the effect had.
func (c *Client) AskKey(ctx context.Context, call Call) (Answer, error) {
	if call.Key == "" {
		return Answer{}, fmt.Errorf("ask provider: the key is empty")
	}
	status, body, err := c.send(ctx, http.MethodGet, "/keys/"+url.PathEscape(call.Key), Call{Case: call.Case}, nil)
	if err != nil {
		return Answer{}, err
	}
	if status == http.StatusNotFound {
		return Answer{CannotTell: true}, nil
	}
	if status != http.StatusOK {
		return Answer{}, errorOf(status, body, call.Key)
	}
	var a keyAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, fmt.Errorf("ask provider: %w", err)
	}
	if !a.Applied {
		return Answer{}, nil
	}
	var r Receipt
	if err := json.Unmarshal(a.Response, &r); err != nil {
		return Answer{}, fmt.Errorf("ask provider: %w", err)
	}
	return Answer{Applied: true, Receipt: r}, nil
}

// Effects lists the journal, oldest first.
func (c *Client) Effects(ctx context.Context, f Filter) ([]Effect, error) {
	q := url.Values{"kind": {string(f.Kind)}, "case": {f.Case}}
	var found []Effect
	err := c.do(ctx, http.MethodGet, "/effects?"+q.Encode(), Call{}, nil, &found)
	return found, err
}

// Stats counts a case; all cases together, if it is empty.
func (c *Client) Stats(ctx context.Context, caseID string) (Stats, error) {
	var s Stats
	err := c.do(ctx, http.MethodGet, "/stats?"+url.Values{"case": {caseID}}.Encode(), Call{}, nil, &s)
	return s, err
}

// SetFaults replaces the whole behaviour of b.Case.
func (c *Client) SetFaults(ctx context.Context, b Behaviour) error {
	return c.do(ctx, http.MethodPost, "/faults", Call{}, b, nil)
}

// Reset makes the provider new: no effects, no behaviours, counts at zero.
func (c *Client) Reset(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/reset", Call{}, nil, nil)
}

// do sends a request and decodes a success into out, unless out is nil.
func (c *Client) do(ctx context.Context, method, path string, call Call, in, out any) error {
	var text []byte
	if in != nil {
		var err error
		if text, err = json.Marshal(in); err != nil {
			return err
		}
	}
	status, body, err := c.send(ctx, method, path, call, text)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK && status != http.StatusNoContent:
		return errorOf(status, body, call.Key)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: answer not understood: %w", method, path, err)
	}
	return nil
}

// send makes one request on a connection of its own. An error says nothing about the effect.
func (c *Client) send(ctx context.Context, method, path string, call Call, text []byte) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	req.GetBody = nil // without it the body cannot be sent a second time, by whatever transport
	if text != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if call.Case != "" {
		req.Header.Set(headerCase, call.Case)
	}
	if call.Key != "" {
		req.Header.Set(headerKey, call.Key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	return res.StatusCode, body, nil
}
