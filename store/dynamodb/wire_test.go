package dynamodb_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// wire is between a client and the server, and sees each request by its operation.
type wire struct {
	mu   sync.Mutex
	seen []string
	does func(call) (*http.Response, error)
}

// call is one request, on its way.
type call struct {
	ctx       context.Context
	operation string
	send      func() (*http.Response, error)
}

var errCut = errors.New("the wire was cut")

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.mu.Lock()
	w.seen = append(w.seen, operation)
	does := w.does
	w.mu.Unlock()
	c := call{r.Context(), operation, func() (*http.Response, error) { return transport.Do(r) }}
	if does == nil {
		return c.send()
	}
	return does(c)
}

// on makes the wire do something with the requests from now on.
func (w *wire) on(does func(call) (*http.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.does = does
}

// asked returns the operations that were asked for since it was called last.
func (w *wire) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.seen = nil }()
	return w.seen
}

// loseAnswers lets the next n requests of an operation through, but not their answers.
// before is called before the client hears of that.
func (w *wire) loseAnswers(operation string, n int, before ...func()) {
	w.on(func(c call) (*http.Response, error) {
		answer, err := c.send()
		w.mu.Lock()
		lose := c.operation == operation && n > 0
		if lose {
			n--
		}
		w.mu.Unlock()
		if !lose || err != nil {
			return answer, err
		}
		_ = answer.Body.Close()
		for _, f := range before {
			f()
		}
		return nil, errCut
	})
}

// answer makes the wire answer requests of an operation itself.
func (w *wire) answer(operation string, status int, body string) {
	w.on(func(c call) (*http.Response, error) {
		if c.operation != operation {
			return c.send()
		}
		return &http.Response{
			StatusCode: status, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		}, nil
	})
}

// edit changes the answers to an operation.
func (w *wire) edit(operation, from, to string) {
	w.on(func(c call) (*http.Response, error) {
		answer, err := c.send()
		if c.operation != operation || err != nil {
			return answer, err
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, err
		}
		edited := bytes.Replace(body, []byte(from), []byte(to), 1)
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(edited)), int64(len(edited))
		for name := range answer.Header {
			if strings.EqualFold(name, "x-amz-crc32") || name == "Content-Length" {
				delete(answer.Header, name)
			}
		}
		return answer, nil
	})
}

// over returns a client over a new wire.
func over(t testing.TB, changes ...func(*driver.Options)) (*wire, *driver.Client) {
	t.Helper()
	w := &wire{}
	return w, connect(t, append([]func(*driver.Options){func(o *driver.Options) { o.HTTPClient = w }}, changes...)...)
}

// once is a client that sends nothing twice.
func once(o *driver.Options) { o.RetryMaxAttempts = 1 }

func openOver(t testing.TB, opts dynamodb.Options, changes ...func(*driver.Options)) (*wire, *dynamodb.Store) {
	t.Helper()
	w, client := over(t, changes...)
	if opts.Table == "" {
		opts.Table = table(t)
	}
	s := open(t, client, opts)
	w.asked()
	return w, s
}

func request() store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "tenant", ScopeID: "acme", Operation: "Refund",
		WorkflowID: "order-7", RunID: "run-1", Attempt: 1, Lease: time.Hour, Remaining: time.Hour, Who: "worker-1",
	}
	rand.Read(q.Root[:])
	rand.Read(q.Key[:])
	rand.Read(q.Fingerprint[:])
	return q
}

func again(q store.Request) store.Request {
	q.Token = store.NewToken()
	q.Attempt++
	return q
}

func done(data string) store.Change {
	return store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "text", Data: []byte(data)}}
}

func claim(t *testing.T, s store.Store, q store.Request) store.Record {
	t.Helper()
	r, err := s.Claim(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, store.InFlight, r.State)
	require.Equal(t, q.Token, r.Token)
	return r
}

func verbs(t *testing.T, s *dynamodb.Store, ref store.Ref) (all []store.Verb) {
	t.Helper()
	h, err := s.History(t.Context(), ref)
	require.NoError(t, err)
	for _, e := range h {
		all = append(all, e.Verb)
	}
	return all
}

// What an action costs is what it asks for.
func TestEveryStepIsOneWriteAndWhoClaimedNeedNotRead(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	const update, get = "UpdateItem", "GetItem"
	expect := func(what string, want ...string) {
		t.Helper()
		require.Equal(t, want, w.asked(), what)
	}
	q := request()
	r := claim(t, s, q)
	expect("first claim", update)
	_, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
	require.NoError(t, err)
	expect("renewal", update)
	_, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	expect("result", update)
	_, err = s.Claim(t.Context(), again(q))
	require.NoError(t, err)
	expect("duplicate, by a retry", get)
	q.Token = store.NewToken()
	_, err = s.Claim(t.Context(), q)
	require.NoError(t, err)
	expect("duplicate, by a first attempt", update, get)

	q = request()
	r = claim(t, s, q)
	r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	w.asked()
	_, err = s.TakeOver(t.Context(), again(q), r)
	require.NoError(t, err)
	expect("take-over", get, update)

	other := open(t, connect(t), dynamodb.Options{Table: s.Table()})
	q = request()
	r = claim(t, other, q)
	_, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	expect("result of another process's claim", get, update)
}

// A store that has claimed does not know what others have done since, and finds out.
func TestWhatThisStoreRemembersIsNoTruth(t *testing.T) {
	t.Parallel()
	name := table(t)
	s, other := open(t, connect(t), dynamodb.Options{Table: name}), open(t, connect(t), dynamodb.Options{Table: name})
	for _, late := range []store.Change{done("mine"), {Verb: store.Release}, {Verb: store.MarkUnknown}} {
		q := request()
		r := claim(t, s, q)
		seen, err := other.Get(t.Context(), q.Ref)
		require.NoError(t, err)
		resolved := done("theirs")
		resolved.Who = "ann"
		_, err = other.Amend(t.Context(), seen, resolved)
		require.NoError(t, err)

		got, err := s.Report(t.Context(), r.Claim(), late)
		require.ErrorIs(t, err, store.ErrLeaseLost)
		require.Equal(t, "theirs", string(got.Outcome.Data))
	}
	q := request()
	r := claim(t, s, q)
	seen, err := other.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	_, err = other.Amend(t.Context(), seen, store.Change{Verb: store.Release, Force: true, Who: "ann"})
	require.NoError(t, err)
	lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
	require.NoError(t, err)
	require.Equal(t, []store.Claim{r.Claim()}, lost)

	// What it remembers refuses nothing: the record may have become what is reported.
	q = request()
	claim(t, s, q)
	seen, err = other.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	seen, err = other.Report(t.Context(), seen.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	r, err = other.TakeOver(t.Context(), again(q), seen)
	require.NoError(t, err)
	r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Fence)
}

// A caller may use its bytes again, also those of a claim that is still held.
func TestWhatThisStoreRemembersIsItsOwn(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	q := request()
	q.Fields = []byte{1, 2, 3}
	r := claim(t, s, q)
	q.Fields[0], r.Fields[1] = 9, 9
	r, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3}, r.Fields)
	r, err = s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3}, r.Fields)
}
