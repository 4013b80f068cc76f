package interceptor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/store"
)

// encodingContext is the part of an activity that a context-bound codec sees. It is
// kept with the outcome, which may be read in another workflow.
type encodingContext struct {
	Namespace    string `json:"namespace"`
	WorkflowID   string `json:"workflow_id"`
	WorkflowType string `json:"workflow_type"`
	ActivityType string `json:"activity_type"`
	TaskQueue    string `json:"task_queue"`
	Local        bool   `json:"local"`
}

func contextOf(i activity.Info) encodingContext {
	e := encodingContext{
		Namespace: i.Namespace, WorkflowID: i.WorkflowExecution.ID, ActivityType: i.ActivityType.Name,
		TaskQueue: i.TaskQueue, Local: i.IsLocalActivity,
	}
	if i.WorkflowType != nil {
		e.WorkflowType = i.WorkflowType.Name
	}
	return e
}

// bytes is how the context is kept, as JSON. Equal contexts have equal bytes.
func (e encodingContext) bytes() ([]byte, error) {
	out := make([]byte, 0, 192)
	for _, member := range []struct{ name, value string }{
		{`{"namespace":`, e.Namespace}, {`,"workflow_id":`, e.WorkflowID}, {`,"workflow_type":`, e.WorkflowType},
		{`,"activity_type":`, e.ActivityType}, {`,"task_queue":`, e.TaskQueue},
	} {
		text, err := canon.String(append(out, member.name...), member.value)
		if err != nil {
			return json.Marshal(e) // not valid UTF-8: as near as JSON can come
		}
		out = text
	}
	return append(strconv.AppendBool(append(out, `,"local":`...), e.Local), '}'), nil
}

func (e encodingContext) serialization() converter.SerializationContext {
	return converter.ActivitySerializationContext{
		Namespace: e.Namespace, WorkflowID: e.WorkflowID, WorkflowType: e.WorkflowType,
		ActivityType: e.ActivityType, TaskQueue: e.TaskQueue, IsLocal: e.Local,
	}
}

// dataConverter returns the worker's converter as the SDK would bind it for e.
func (c *call) dataConverter(ctx context.Context, e encodingContext) converter.DataConverter {
	dc := converter.WithDataConverterSerializationContext(c.ic.opts.DataConverter, e.serialization())
	if aware, ok := dc.(converter.ContextAware); ok {
		dc = aware.WithContext(ctx)
	}
	return dc
}

func (c *call) failureConverter(e encodingContext) converter.FailureConverter {
	return converter.WithFailureConverterSerializationContext(c.ic.opts.FailureConverter, e.serialization())
}

// encodeResult turns what a body returned into an outcome, before it is recorded: a
// result that cannot be encoded must not make the effect repeat. A codec that is not
// reachable just now is tried again, within RecordTimeout; it is an error if that was
// not long enough.
func (c *call) encodeResult(ctx context.Context, result any) (*store.Outcome, error) {
	own := contextOf(c.info)
	bound, err := own.bytes()
	if err != nil {
		return lost(err), nil
	}
	payloads, ok := result.(*commonpb.Payloads) // local activities in the test environment come encoded
	if !ok && result != nil {
		payloads, err = c.toPayloads(ctx, own, result)
		switch {
		case errors.Is(err, converter.ErrUnableToEncode):
			return lost(err), nil
		case err != nil:
			return nil, fmt.Errorf("encode the result: %w", err)
		}
	}
	data, err := marshal(payloads)
	if err != nil {
		return lost(err), nil
	}
	c.encoded = payloads
	return &store.Outcome{Format: outcome.Result, Data: data, Context: bound}, nil
}

// toPayloads encodes a result, and tries again while the codec is not reachable.
func (c *call) toPayloads(ctx context.Context, own encodingContext, result any) (*commonpb.Payloads, error) {
	p, err := toPayloads(c.dataConverter(ctx, own), result)
	if err == nil || errors.Is(err, converter.ErrUnableToEncode) {
		return p, err
	}
	ctx = c.ic.reports.Of(ctx)
	pause := newBackoff()
	for err != nil && !errors.Is(err, converter.ErrUnableToEncode) && pause.sleep(ctx) == nil {
		p, err = toPayloads(c.dataConverter(ctx, own), result)
	}
	return p, err
}

// toPayloads encodes a result. A converter that panics cannot encode it.
func toPayloads(dc converter.DataConverter, result any) (p *commonpb.Payloads, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: the data converter panicked: %v", converter.ErrUnableToEncode, r)
		}
	}()
	return dc.ToPayloads(result)
}

func lost(err error) *store.Outcome {
	return &store.Outcome{Format: outcome.Lost, Data: []byte(err.Error())}
}

// encodable returns an error that Temporal can be told: the SDK panics on details that
// cannot be encoded, and then tells nothing at all. Such an error loses its details and
// its cause.
func (c *call) encodable(err error) (told error) {
	defer func() {
		if p := recover(); p == nil {
			return
		}
		message, errType, options := err.Error(), "", temporal.ApplicationErrorOptions{}
		var app *temporal.ApplicationError
		if errors.As(err, &app) {
			message, errType = app.Message(), app.Type()
			options = temporal.ApplicationErrorOptions{NonRetryable: app.NonRetryable(), NextRetryDelay: app.NextRetryDelay(), Category: app.Category()}
		}
		told = temporal.NewApplicationErrorWithOptions(message, errType, options)
	}()
	c.failureConverter(contextOf(c.info)).ErrorToFailure(err)
	return err
}

// encodeFailure turns a final error, which must be encodable, into an outcome.
func (c *call) encodeFailure(failed error) *store.Outcome {
	own := contextOf(c.info)
	bound, err := own.bytes()
	if err != nil {
		return lost(err)
	}
	f := c.failureConverter(own).ErrorToFailure(failed)
	if f.GetApplicationFailureInfo() == nil {
		// The server accepts nothing else from an activity.
		f = &failurepb.Failure{
			Message: f.GetMessage(), Source: f.GetSource(), StackTrace: f.GetStackTrace(), Cause: f,
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{}},
		}
	}
	data, err := proto.Marshal(f)
	if err != nil {
		return lost(err)
	}
	return &store.Outcome{Format: outcome.Failure, Data: data, Context: bound}
}

// handOut hands out what this attempt has just recorded: the payloads whose bytes were
// recorded, which nobody else holds.
func (c *call) handOut(ctx context.Context, rec store.Record, recorded *store.Outcome) (any, error) {
	if recorded.Format != outcome.Result || rec.Outcome != nil && !rec.Outcome.Equal(recorded) {
		return c.replay(ctx, rec)
	}
	if err := c.tooLarge(recorded); err != nil {
		return nil, err
	}
	if len(c.encoded.GetPayloads()) == 0 {
		return nil, nil //nolint:nilnil // "no payload" is what the body returned
	}
	return c.encoded, nil
}

func (c *call) tooLarge(o *store.Outcome) error {
	limit := c.ic.opts.MaxResultBytes
	if c.ic.opts.AnyResultSize || len(o.Data) <= limit {
		return nil
	}
	return c.fail(failure{errType: effectonce.ErrTypeResultLost, final: true},
		"executed, but its result of %d bytes exceeds the limit of %d and Temporal would refuse it. The record keeps it in full", len(o.Data), limit)
}

// replay hands out what is recorded, verbatim. It always makes fresh values from
// the bytes: the SDK changes what it is given.
func (c *call) replay(ctx context.Context, rec store.Record) (any, error) {
	o := rec.Outcome
	if o == nil { // dropped since it was recorded
		return nil, c.errExpired(rec)
	}
	if o.Format != outcome.Failure {
		if err := c.tooLarge(o); err != nil {
			return nil, err
		}
	}
	switch o.Format {
	case outcome.Lost:
		return nil, c.fail(failure{errType: effectonce.ErrTypeResultLost, final: true},
			"executed, but its result could not be encoded: %s", o.Data)
	case outcome.Failure:
		var f failurepb.Failure
		if err := unmarshal(o.Data, &f); err != nil {
			return nil, c.errRecord(err)
		}
		from, err := readContext(o)
		if err != nil {
			return nil, c.errRecord(err)
		}
		return nil, c.failureConverter(from).FailureToError(&f)
	case outcome.Plain:
		if len(o.Data) == 0 {
			return nil, nil //nolint:nilnil // "no payload" was resolved
		}
		return converter.NewRawValue(&commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: o.Data,
		}), nil
	case outcome.Result:
		var p commonpb.Payloads
		if err := unmarshal(o.Data, &p); err != nil {
			return nil, c.errRecord(err)
		}
		if len(p.GetPayloads()) == 0 {
			return nil, nil //nolint:nilnil // "no payload" is what the body returned
		}
		return c.rebind(ctx, o, &p)
	}
	return nil, c.errRecord(fmt.Errorf("outcome has format %q, which this version does not know", o.Format))
}

// rebind hands out payloads that were encoded in another workflow. If the codec is
// bound to the workflow, they are decoded there and encoded here; else the bytes stay.
func (c *call) rebind(ctx context.Context, o *store.Outcome, p *commonpb.Payloads) (any, error) {
	own := contextOf(c.info)
	if bound, err := own.bytes(); err == nil && bytes.Equal(bound, o.Context) {
		return p, nil
	}
	from, err := readContext(o)
	if err != nil {
		return nil, c.errRecord(err)
	}
	var there, here converter.RawValue
	if err := c.dataConverter(ctx, from).FromPayloads(proto.CloneOf(p), &there); err != nil {
		return nil, c.errRecord(fmt.Errorf("decode the result of workflow %q: %w", from.WorkflowID, err))
	}
	if err := c.dataConverter(ctx, own).FromPayloads(proto.CloneOf(p), &here); err == nil &&
		proto.Equal(there.Payload(), here.Payload()) {
		return p, nil
	}
	return there, nil
}

// unmarshal refuses what protobuf would pass over: damaged bytes often read as
// fields that nobody knows, and a result must not turn into "no result".
func unmarshal(data []byte, m proto.Message) error {
	if err := proto.Unmarshal(data, m); err != nil {
		return err
	}
	if hasUnknown(m) {
		return errors.New("the outcome has unknown fields")
	}
	return nil
}

func readContext(o *store.Outcome) (encodingContext, error) {
	var e encodingContext
	if len(o.Context) == 0 {
		return e, errors.New("outcome has no encoding context")
	}
	if err := json.Unmarshal(o.Context, &e); err != nil {
		return e, fmt.Errorf("encoding context of the outcome: %w", err)
	}
	return e, nil
}
