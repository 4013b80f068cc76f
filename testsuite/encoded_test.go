package testsuite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// Messages of errors are sensitive as well: where the worker's failure converter
// encodes them, no record and no history shows them.
func TestFinalFailureIsEncrypted(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]bool{"RandomNonce": false, "BoundToTheWorkflowByID": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, encoding(newSealing(bound)), func(l *lab) {
				l.failures = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
					DataConverter: l.converter, EncodeCommonAttributes: true,
				})
			})
			l.work(setup{
				options:   charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}),
				workflows: map[string]any{"main": charge(20*time.Second, 0)},
				activities: map[string]any{"Charge": l.awkward(func() (any, error) {
					return nil, effectonce.Final(temporal.NewNonRetryableApplicationError(secret+" is closed", "Closed", errors.New(secret), secret))
				})},
			})
			run := l.start("main", order{ID: 1, Cents: 5})
			first := l.ended(run, nil)
			reset := l.reset(run, 1)
			other := l.start("main", order{ID: 1, Cents: 5})
			for _, err := range []error{first, l.ended(reset, nil), l.ended(other, nil)} {
				app := application(t, err)
				var detail string
				require.NoError(t, app.Details(&detail))
				assert.Equal(t, []any{"Closed", secret + " is closed", true, secret}, []any{app.Type(), app.Message(), app.NonRetryable(), detail})
				assert.ErrorContains(t, errors.Unwrap(app), secret)
			}
			assert.Len(t, l.bodies(), 1)
			for _, e := range append(append(l.history(run), l.history(reset)...), l.history(other)...) {
				text, err := proto.Marshal(e)
				require.NoError(t, err)
				assert.False(t, bytes.Contains(text, []byte(secret)), "readable in the history: %s", e.GetEventType())
			}
			assert.False(t, bytes.Contains(l.record().Outcome.Data, []byte(secret)), "readable in the store")
		})
	}
}

// The codec gets a new key. What was recorded under the old one stays as it is, and
// stays readable while the old key is known. Without it there is an error, never a
// second run.
func TestKeyOfTheCodecIsRotated(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]bool{"RandomNonce": false, "BoundToTheWorkflowByID": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, encoding(newSealing(bound, "old")))
			work := func() (stop func()) {
				return l.work(setup{
					options:   charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}),
					workflows: map[string]any{"main": charge(20*time.Second, 0)}, activities: map[string]any{"Charge": l.Charge},
				})
			}
			rotate := func(keys ...string) {
				l.converter = newSealing(bound, keys...)
				l.client = l.dial(client.Options{})
			}
			in := order{ID: 1, Cents: 5}
			stop := work()
			run := l.start("main", in)
			receipt := await[provider.Receipt](l, run)
			stop()

			rotate("new", "old")
			stop = work()
			reset := l.reset(l.client.GetWorkflow(t.Context(), run.GetID(), run.GetRunID()), 1)
			assert.Equal(t, receipt, await[provider.Receipt](l, reset))
			sameBytes(t, results(l.history(run)), results(l.history(reset)))
			assert.Equal(t, receipt, await[provider.Receipt](l, l.start("main", in)), "in another workflow")
			stop()

			rotate("new") // too early: the old one is still needed
			stop = work()
			late := l.start("main", in)
			l.until("it is refused, twice", l.attempted(late, 3))
			assert.Equal(t, effectonce.ErrTypeRecord, l.lastFailure(late))
			stop()

			rotate("new", "old")
			work()
			late = l.client.GetWorkflow(t.Context(), late.GetID(), late.GetRunID())
			assert.Equal(t, receipt, await[provider.Receipt](l, late))
			assert.Len(t, l.effects(), 1)
			assert.Len(t, l.bodies(), 1)
		})
	}
}

// shelf is external storage for payloads, addressed by their content.
type shelf struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (*shelf) Name() string { return "shelf" }
func (*shelf) Type() string { return "shelf" }

func (s *shelf) Store(_ converter.StorageDriverStoreContext, payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		name := hex.EncodeToString(sum[:])
		s.mu.Lock()
		s.kept[name] = data
		s.mu.Unlock()
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{"name": name}}
	}
	return claims, nil
}

func (s *shelf) Retrieve(_ converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	payloads := make([]*commonpb.Payload, len(claims))
	for i, c := range claims {
		s.mu.Lock()
		data, ok := s.kept[c.ClaimData["name"]]
		s.mu.Unlock()
		if !ok {
			return nil, errors.New("nothing of that name")
		}
		payloads[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(data, payloads[i]); err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

// External storage puts a reference in the place of a large result, after the
// interceptor, in the very value that it handed out. The record keeps the result.
func TestLargeResultInExternalStorage(t *testing.T) {
	t.Parallel()
	kept := &shelf{kept: map[string][]byte{}}
	l := newLab(t, func(l *lab) {
		l.external = converter.ExternalStorage{Drivers: []converter.StorageDriver{kept}, PayloadSizeThreshold: 64 << 10}
	})
	large := strings.Repeat("x", 3<<20)
	options := charging(interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()})
	options.AnyResultSize = true
	l.work(setup{
		options: options, workflows: map[string]any{"main": func(ctx workflow.Context, in order) (int, error) {
			var text string
			err := workflow.ExecuteActivity(calling(ctx, 20*time.Second, 1), "Charge", in).Get(ctx, &text)
			return len(text), err
		}},
		activities: map[string]any{"Charge": func(ctx context.Context, in order) (string, error) {
			_, err := l.Charge(ctx, in)
			return large, err
		}},
	})
	run := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, len(large), await[int](l, run))
	reset := l.reset(run, 1)
	assert.Equal(t, len(large), await[int](l, reset))
	other := l.start("main", order{ID: 1, Cents: 5})
	assert.Equal(t, len(large), await[int](l, other))
	inHistory := results(l.history(run))
	require.Len(t, inHistory, 1)
	assert.Less(t, len(inHistory[0]), 1<<10, "a reference")
	sameBytes(t, inHistory, results(l.history(reset)))
	sameBytes(t, inHistory, results(l.history(other)))
	assert.Greater(t, len(l.record().Outcome.Data), len(large))
	assert.Len(t, l.effects(), 1)
}
