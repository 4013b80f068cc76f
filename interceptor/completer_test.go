package interceptor_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
)

// salted encodes the same payload differently each time, as encryption does.
type salted struct{}

func (salted) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	var out []*commonpb.Payload
	for _, p := range list {
		out = append(out, &commonpb.Payload{Metadata: p.GetMetadata(), Data: append([]byte(rand.Text()), p.GetData()...)})
	}
	return out, nil
}

func (salted) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	var out []*commonpb.Payload
	for _, p := range list {
		out = append(out, &commonpb.Payload{Metadata: p.GetMetadata(), Data: p.GetData()[len(rand.Text()):]})
	}
	return out, nil
}

// temporalClient is a client that remembers with what tasks were completed.
type temporalClient struct {
	client.Client
	tasks
}

type tasks struct {
	workflowservice.WorkflowServiceClient
	told [][]byte
}

func (c *temporalClient) WorkflowService() workflowservice.WorkflowServiceClient { return &c.tasks }

func (c *tasks) RespondActivityTaskCompletedById(
	_ context.Context, r *workflowservice.RespondActivityTaskCompletedByIdRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondActivityTaskCompletedByIdResponse, error) {
	c.told = append(c.told, r.GetResult().GetPayloads()[0].GetData())
	return &workflowservice.RespondActivityTaskCompletedByIdResponse{}, nil
}

func TestCompleter_MayRepeatItselfAlsoWhenTheCodecNeverEncodesAlike(t *testing.T) {
	t.Parallel()
	var handle string
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, func(ctx context.Context, _ int, _ chargeIn) (receipt, error) {
		handle = effectonce.Current(ctx).Handle()
		return receipt{}, activity.ErrResultPending
	}, func(o *interceptor.Options) {
		o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), salted{})
	})
	_, err := w.attempt(order7)
	require.ErrorIs(t, err, activity.ErrResultPending)
	c := &temporalClient{}
	completer := w.ic.Completer(c)
	for range 2 {
		require.NoError(t, completer.Complete(t.Context(), handle, receipt{"by others", 500}))
	}
	require.Len(t, c.told, 2)
	require.Equal(t, c.told[0], c.told[1], "the bytes that are recorded")
	require.ErrorIs(t, completer.Complete(t.Context(), handle, receipt{"by others", 501}), store.ErrLeaseLost)
}
