package testsuite_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

const secret = "card 4242"

type note struct {
	Text string
	Next *note `json:",omitempty"`
}

// shapes are activities, each with a result of another shape. Their argument tells
// calls of one activity apart.
func shapes(ran *atomic.Int64) map[string]any {
	count := func() error { ran.Add(1); return nil }
	return map[string]any{
		"struct":     func(context.Context, string) (note, error) { return note{secret, &note{Text: "n"}}, count() },
		"string":     func(context.Context, string) (string, error) { return secret, count() },
		"nilPointer": func(context.Context, string) (*note, error) { return nil, count() },
		"nilMap":     func(context.Context, string) (map[string]string, error) { return nil, count() },
		"errorOnly":  func(context.Context, string) error { return count() },
		"bytes":      func(context.Context, string) ([]byte, error) { return []byte(secret), count() },
		"map": func(context.Context, string) (map[string]string, error) {
			return map[string]string{"b": secret, "a": ""}, count()
		},
		"message": func(context.Context, string) (*commonpb.WorkflowExecution, error) {
			return &commonpb.WorkflowExecution{WorkflowId: secret, RunId: "r"}, count()
		},
		"nilMessage": func(context.Context, string) (*commonpb.WorkflowExecution, error) { return nil, count() },
		"raw": func(context.Context, string) (converter.RawValue, error) {
			return converter.NewRawValue(&commonpb.Payload{
				Metadata: map[string][]byte{"encoding": []byte("json/plain"), "own": []byte("metadata")}, Data: []byte(`{ "spaced" : "` + secret + `" }`),
			}), count()
		},
		"large": func(context.Context, string) (string, error) { return secret + strings.Repeat("x", 1_500_000), count() },
	}
}

var shapeNames = slices.Sorted(maps.Keys(shapes(new(atomic.Int64))))

// callShapes calls every activity, as regular and as local, and returns what could
// be read of the results.
func callShapes(ctx workflow.Context) (map[string]string, error) {
	ctx = calling(ctx, 20*time.Second, 1)
	decoded := map[string]string{}
	for _, name := range shapeNames {
		for kind, f := range []workflow.Future{
			workflow.ExecuteActivity(ctx, name, "regular"), workflow.ExecuteLocalActivity(ctx, name, "local"),
		} {
			var raw converter.RawValue // decoded by the codec, not by reflection: that is slow
			if err := f.Get(ctx, &raw); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			decoded[fmt.Sprint(name, kind)] = "nothing"
			if p := raw.Payload(); p != nil {
				decoded[fmt.Sprint(name, kind)] = fmt.Sprintf("%s %d %.40s", p.GetMetadata(), len(p.GetData()), p.GetData())
			}
		}
	}
	return decoded, nil
}

// What is replayed is what was recorded, byte by byte, whatever the shape, encrypted
// where the codec encrypts, and readable in the workflow that gets it.
func TestReplayIsVerbatim(t *testing.T) { // not parallel: megabytes under the race detector
	for name, c := range map[string]struct {
		converter converter.DataConverter
		elsewhere bool // the same bytes in another workflow too
		sealed    bool
	}{
		"NoCodec":                {nil, true, false},
		"RandomNonce":            {newSealing(false), true, true},
		"BoundToTheWorkflowByID": {newSealing(true), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, encoding(c.converter))
			policies := map[string]interceptor.Policy{}
			for _, shape := range shapeNames {
				policies[shape] = interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}
			}
			var ran atomic.Int64
			l.work(setup{options: settled(policies), workflows: map[string]any{"main": callShapes}, activities: shapes(&ran)})
			once := int64(2 * len(shapeNames))

			run := l.start("main")
			decoded := await[map[string]string](l, run)
			require.Equal(t, once, ran.Load())
			recorded := results(l.history(run))
			require.Len(t, recorded, int(once))

			reset := l.reset(run, 1)
			assert.Equal(t, decoded, await[map[string]string](l, reset))
			sameBytes(t, recorded, results(l.history(reset)))

			other := l.start("main")
			assert.Equal(t, decoded, await[map[string]string](l, other))
			if c.elsewhere {
				sameBytes(t, recorded, results(l.history(other)))
			}
			assert.Equal(t, once, ran.Load(), "every body ran once")

			if c.sealed {
				for _, e := range append(l.history(run), l.history(other)...) {
					text, err := proto.Marshal(e)
					require.NoError(t, err)
					assert.False(t, bytes.Contains(text, []byte(secret)), "readable in the history: %s", e.GetEventType())
				}
				for _, rec := range l.records() {
					assert.False(t, bytes.Contains(rec.Outcome.Data, []byte(secret)), "readable in the store: %s", rec.Operation)
				}
			}
		})
	}
}

// sameBytes compares results without printing megabytes. Local and regular results
// end in any order.
func sameBytes(t *testing.T, want, got [][]byte) {
	t.Helper()
	slices.SortFunc(want, bytes.Compare)
	slices.SortFunc(got, bytes.Compare)
	require.Len(t, got, len(want))
	for i := range want {
		assert.True(t, (want[i] == nil) == (got[i] == nil) && bytes.Equal(want[i], got[i]), "result %d: %.60q, want %.60q", i, got[i], want[i])
	}
}
