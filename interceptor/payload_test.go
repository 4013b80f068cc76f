package interceptor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// actionsOf calls an activity once with each argument list, in one workflow, and
// returns how many actions they were.
func actionsOf(t *testing.T, p interceptor.Policy, dc converter.DataConverter, register func(*sdktest.TestWorkflowEnvironment), calls ...[]any) (int, error) {
	t.Helper()
	p.Scope, p.Unknown = effectonce.Namespace, interceptor.Hold()
	records := memory.New(memory.Options{})
	ic, err := interceptor.New(records, interceptor.Options{
		Policies: map[string]interceptor.Policy{"Act": p}, DataConverter: dc,
	})
	require.NoError(t, err)
	var suite sdktest.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetDataConverter(dc)
	env.SetWorkerOptions(workerOptions(ic))
	register(env)
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		for _, args := range calls {
			if err := workflow.ExecuteActivity(attempts(ctx, 1), "Act", args...).Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}, workflow.RegisterOptions{Name: "workflow"})
	env.ExecuteWorkflow("workflow")
	if err := env.GetWorkflowError(); err != nil {
		return 0, err
	}
	list, err := records.List(context.Background(), store.Filter{})
	require.NoError(t, err)
	return len(list), nil
}

func registerRaw(env *sdktest.TestWorkflowEnvironment) {
	env.RegisterActivityWithOptions(func(context.Context, converter.RawValue) error { return nil }, activity.RegisterOptions{Name: "Act"})
}

func registerDynamic(env *sdktest.TestWorkflowEnvironment) {
	env.RegisterDynamicActivity(func(context.Context, converter.EncodedValues) (string, error) { return "", nil }, activity.DynamicRegisterOptions{})
}

func rawValue(encoding, data string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: []byte(data),
	})
}

func TestPayload_RawValues(t *testing.T) {
	t.Parallel()
	dc := converter.GetDefaultDataConverter()
	note := interceptor.Policy{Ignore: []string{"/0/note"}}
	for name, c := range map[string]struct {
		policy interceptor.Policy
		a, b   converter.RawValue
		want   int
	}{
		"the same twice":               {interceptor.Policy{}, rawValue("json/plain", `{"a":1,"b":2}`), rawValue("json/plain", `{"b": 2.0, "a": 1}`), 1},
		"another encoding":             {interceptor.Policy{}, rawValue("json/plain", `{}`), rawValue("binary/plain", `{}`), 2},
		"the last of 19 digits":        {interceptor.Policy{}, rawValue("json/plain", `{"id":1746030112345678901}`), rawValue("json/plain", `{"id":1746030112345678902}`), 2},
		"paths lead into the text":     {note, rawValue("json/plain", `{"id":1,"note":"a"}`), rawValue("json/plain", `{"id":1,"note":"b"}`), 1},
		"paths leave the rest of it":   {note, rawValue("json/plain", `{"id":1,"note":"a"}`), rawValue("json/plain", `{"id":2,"note":"a"}`), 2},
		"bytes have no text for paths": {note, rawValue("binary/plain", `{"id":1,"note":"a"}`), rawValue("binary/plain", `{"id":1,"note":"b"}`), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := actionsOf(t, c.policy, dc, registerRaw, []any{c.a}, []any{c.b})
			require.NoError(t, err)
			require.Equal(t, c.want, n)
		})
	}
}

func TestPayload_WhatNobodyDecodedIsRefusedAndADeployCuresIt(t *testing.T) {
	t.Parallel()
	_, err := actionsOf(t, interceptor.Policy{}, converter.GetDefaultDataConverter(), registerRaw, []any{rawValue("binary/encrypted", "…")})
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, effectonce.ErrTypeInput, app.Type())
	require.False(t, app.NonRetryable())
	require.Contains(t, app.Message(), "binary/encrypted")

	_, err = actionsOf(t, interceptor.Policy{}, converter.GetDefaultDataConverter(), registerRaw, []any{rawValue("json/plain", `{"a":1,"a":2}`)})
	require.ErrorAs(t, err, &app)
	require.Equal(t, effectonce.ErrTypeInput, app.Type())
	require.True(t, app.NonRetryable(), "bad data stays bad")
}

func TestPayload_DynamicActivities(t *testing.T) {
	t.Parallel()
	// The codec writes other bytes each time, as encryption does.
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), &noise{})
	id := interceptor.Policy{Identity: []string{"/0/id"}}
	type in struct {
		ID   int64  `json:"id"`
		Note string `json:"note"`
	}
	for name, c := range map[string]struct {
		policy interceptor.Policy
		a, b   []any
		want   int
	}{
		"equal arguments":       {interceptor.Policy{}, []any{in{1, "a"}, "x"}, []any{in{1, "a"}, "x"}, 1},
		"another argument":      {interceptor.Policy{}, []any{in{1, "a"}, "x"}, []any{in{1, "a"}, "y"}, 2},
		"one argument more":     {interceptor.Policy{}, []any{in{1, "a"}}, []any{in{1, "a"}, "x"}, 2},
		"one null more":         {interceptor.Policy{}, []any{in{1, "a"}}, []any{in{1, "a"}, nil}, 2},
		"null or two of them":   {interceptor.Policy{}, []any{nil}, []any{nil, nil}, 2},
		"none or null":          {interceptor.Policy{}, nil, []any{nil}, 2},
		"none twice":            {interceptor.Policy{}, nil, nil, 1},
		"large integers":        {interceptor.Policy{}, []any{in{ID: 1746030112345678901}}, []any{in{ID: 1746030112345678902}}, 2},
		"bytes, and their text": {interceptor.Policy{}, []any{[]byte("hi")}, []any{"aGk="}, 2},
		"paths":                 {id, []any{in{1, "a"}, "x"}, []any{in{1, "b"}, "y"}, 1},
		"paths to another":      {id, []any{in{1, "a"}}, []any{in{2, "a"}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := actionsOf(t, c.policy, dc, registerDynamic, c.a, c.b)
			require.NoError(t, err)
			require.Equal(t, c.want, n)
		})
	}
}

// noise is a codec whose output is never the same twice.
type noise struct{ n atomic.Uint32 }

func (c *noise) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/noise")}, Data: append([]byte{byte(c.n.Add(1))}, data...)}
	}
	return out, nil
}

func (c *noise) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = &commonpb.Payload{}
		if string(p.GetMetadata()["encoding"]) != "binary/noise" {
			out[i] = p
		} else if err := proto.Unmarshal(p.GetData()[1:], out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// spaced is a message in the text that another build of protojson might write.
func spaced(text string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{Data: []byte(text), Metadata: map[string][]byte{
		converter.MetadataEncoding: []byte(converter.MetadataEncodingProtoJSON), converter.MetadataMessageType: []byte("temporal.api.common.v1.WorkflowExecution"),
	}})
}

func TestPayload_MessagesAreOneWhateverTheSpacing(t *testing.T) {
	t.Parallel()
	dc := converter.GetDefaultDataConverter()
	typed := func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(func(context.Context, *commonpb.WorkflowExecution) error { return nil }, activity.RegisterOptions{Name: "Act"})
	}
	a, b := spaced(`{"workflowId":"w","runId":"r"}`), spaced(`{"runId":"r",  "workflowId":"w"}`)
	message := &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"}
	for name, register := range map[string]func(*sdktest.TestWorkflowEnvironment){"typed": typed, "raw": registerRaw, "dynamic": registerDynamic} {
		calls := [][]any{{a}, {b}}
		if name != "raw" {
			calls = append(calls, []any{message}, []any{proto.Clone(message)})
		}
		n, err := actionsOf(t, interceptor.Policy{}, dc, register, calls...)
		require.NoError(t, err, name)
		require.Equal(t, 1, n, name)
		n, err = actionsOf(t, interceptor.Policy{}, dc, register, []any{a}, []any{spaced(`{"workflowId":"w"}`)})
		require.NoError(t, err, name)
		require.Equal(t, 2, n, name)
	}
}

// The workflow side numbers calls by their arguments, so it reads payloads too.
func TestPayload_CallsWithRawValuesAndMessagesAreNumbered(t *testing.T) {
	t.Parallel()
	records := memory.New(memory.Options{})
	ic, err := interceptor.New(records, interceptor.Options{
		Policies: map[string]interceptor.Policy{
			"Raw":     {Scope: effectonce.Call, Unknown: interceptor.Rerun()},
			"Message": {Scope: effectonce.Call, Unknown: interceptor.Rerun()},
		},
		DataConverter: converter.GetDefaultDataConverter(),
	})
	require.NoError(t, err)
	var bodies atomic.Int32
	calls := func(ctx workflow.Context) error {
		ctx = attempts(ctx, 1)
		for range 2 {
			for _, f := range []workflow.Future{
				workflow.ExecuteActivity(ctx, "Raw", rawValue("json/plain", `{"a":1}`)),
				workflow.ExecuteActivity(ctx, "Raw", rawValue("binary/plain", `{"a":1}`)),
				workflow.ExecuteActivity(ctx, "Message", &commonpb.WorkflowExecution{WorkflowId: "w"}),
			} {
				if err := f.Get(ctx, nil); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for range 2 { // the second time as after a reset
		var suite sdktest.WorkflowTestSuite
		env := suite.NewTestWorkflowEnvironment()
		env.SetWorkerOptions(workerOptions(ic))
		env.RegisterActivityWithOptions(func(context.Context, converter.RawValue) error { bodies.Add(1); return nil }, activity.RegisterOptions{Name: "Raw"})
		env.RegisterActivityWithOptions(func(context.Context, *commonpb.WorkflowExecution) error { bodies.Add(1); return nil }, activity.RegisterOptions{Name: "Message"})
		env.RegisterWorkflowWithOptions(calls, workflow.RegisterOptions{Name: "workflow"})
		env.ExecuteWorkflow("workflow")
		require.NoError(t, env.GetWorkflowError())
	}
	require.EqualValues(t, 6, bodies.Load())
}

// What stands for a raw value or a message shows only when it comes: its Go type
// says nothing about paths.
func TestPayload_PathsIntoRawValuesAndMessagesAreNoFaultsOfThePolicy(t *testing.T) {
	t.Parallel()
	p, err := interceptor.NewPlugin(memory.New(memory.Options{}), interceptor.Options{Policies: map[string]interceptor.Policy{
		"Act": {Scope: effectonce.Run, Unknown: interceptor.Hold(), Ignore: []string{"/0/note", "/1/runId"}},
	}})
	require.NoError(t, err)
	log := &warnings{}
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Plugins: []client.Plugin{p}, Logger: log})
	require.NoError(t, err)
	w := sdkworker.New(c, "q", sdkworker.Options{})
	act := func(context.Context, converter.RawValue, *commonpb.WorkflowExecution) error { return nil }
	w.RegisterActivityWithOptions(act, activity.RegisterOptions{Name: "Act"})
	require.NotContains(t, w.Start().Error(), "policy") // there is no server
	for _, text := range log.texts {
		require.NotContains(t, text, "Act argument")
	}
}
