package interceptor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/store"
)

// ErrHandle is returned for a text that is not a handle.
var ErrHandle = errors.New("effectonce: not a handle of a pending action")

// ErrNotToldTemporal is returned when an outcome is recorded, but Temporal could not be
// told. The workflow gets it with the activity's next attempt.
var ErrNotToldTemporal = errors.New("effectonce: recorded, but Temporal could not be told")

// handle is what an outside system needs to report on an action that was handed to it.
type handle struct {
	Claim      store.Claim     `json:"claim"`
	Encoding   encodingContext `json:"encoding"`
	RunID      string          `json:"run_id"`
	ActivityID string          `json:"activity_id"`
	Operation  string          `json:"operation"`
}

// Handle implements current.Attempt.
func (r *running) Handle() string {
	runID := r.info.WorkflowExecution.RunID
	if !r.info.IsWorkflowActivity() {
		runID = r.info.ActivityRunID // its ID may be in use for another action when the report comes
	}
	text, err := json.Marshal(handle{
		Claim: r.held.claim, Encoding: contextOf(r.info), RunID: runID,
		ActivityID: r.info.ActivityID, Operation: r.policy.Operation,
	})
	if err != nil {
		return "" // plain data is always encodable
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func readHandle(text string) (h handle, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil || h.Claim.Key.IsZero() || h.Claim.Token == (store.Token{}) {
		return handle{}, errors.Join(ErrHandle, err)
	}
	return h, nil
}

// Completer reports on actions whose bodies returned activity.ErrResultPending: it
// writes the record first, then completes Temporal's task. Use it instead of
// client.CompleteActivity, which the record would not see. It is safe for concurrent
// use.
type Completer struct {
	ic     *Interceptor
	client client.Client
}

// Completer returns a completer that tells Temporal through c.
func (ic *Interceptor) Completer(c client.Client) *Completer { return &Completer{ic: ic, client: c} }

// Completer returns a completer that tells Temporal through c, the plugin's client.
func (p *Plugin) Completer(c client.Client) *Completer { return p.ic.Completer(c) }

// Complete records result as the outcome of the action that handle stands for (see
// effectonce.Action.Handle) and completes its task. It may be repeated. It returns
// [ErrHandle]; an error that wraps store.ErrLeaseLost if the action was taken over,
// resolved or completed otherwise, and then nothing has changed; [ErrNotToldTemporal];
// any other error means that the same call should be repeated.
func (co *Completer) Complete(ctx context.Context, handle string, result any) error {
	h, c, err := co.open(handle)
	if err != nil {
		return err
	}
	o, err := c.encodeResult(ctx, result)
	if err != nil {
		return fmt.Errorf("effectonce: complete %s: %w", h.Claim.Key, err)
	}
	rec, err := co.ic.store.Report(ctx, h.Claim, store.Change{Verb: store.Complete, Outcome: o, Who: co.ic.opts.Worker, Why: "completed by the outside system"})
	if errors.Is(err, store.ErrLeaseLost) && rec.Claim() == h.Claim && c.sameResult(ctx, rec.Outcome, o) {
		err = nil // said before: a codec encodes the same result in many ways
	}
	if err != nil {
		return fmt.Errorf("effectonce: complete %s: %w", h.Claim.Key, err)
	}
	value, err := c.replay(ctx, rec)
	if err != nil {
		return co.fail(ctx, h, c, err)
	}
	payloads, _ := value.(*commonpb.Payloads) // nil is "no payload"
	_, err = co.client.WorkflowService().RespondActivityTaskCompletedById(ctx, &workflowservice.RespondActivityTaskCompletedByIdRequest{
		Namespace: h.Encoding.Namespace, WorkflowId: h.Encoding.WorkflowID, RunId: h.RunID, ActivityId: h.ActivityID,
		Result: payloads, Identity: co.ic.opts.Worker,
	})
	return told(h, err)
}

// sameResult reports whether two outcomes of this activity hold the same result.
func (c *call) sameResult(ctx context.Context, a, b *store.Outcome) bool {
	var plain [2]commonpb.Payloads
	for i, o := range []*store.Outcome{a, b} {
		var p commonpb.Payloads
		if o == nil || o.Format != outcome.Result || unmarshal(o.Data, &p) != nil {
			return false
		}
		for _, encoded := range p.GetPayloads() {
			var raw converter.RawValue
			if c.dataConverter(ctx, contextOf(c.info)).FromPayload(encoded, &raw) != nil {
				return false
			}
			plain[i].Payloads = append(plain[i].Payloads, raw.Payload())
		}
	}
	return proto.Equal(&plain[0], &plain[1])
}

// Fail records that the action failed and fails its task. err must be marked
// NotApplied or Final: what else an outside system reports leaves the outcome open,
// and the pending action alone says that. Errors are those of [Completer.Complete].
func (co *Completer) Fail(ctx context.Context, handle string, err error) error {
	h, c, openErr := co.open(handle)
	if openErr != nil {
		return openErr
	}
	end := classify(c.policy, nil, err, false)
	end.err = c.encodable(end.err)
	change := store.Change{Verb: end.verb, Settle: co.ic.opts.Settle, Who: co.ic.opts.Worker, Why: "failed by the outside system"}
	switch end.verb {
	case store.NotApplied:
	case store.Fail:
		change.Outcome = c.encodeFailure(end.err)
	default:
		return fmt.Errorf("effectonce: fail %s: the error is not marked NotApplied or Final, so nothing is known", h.Claim.Key)
	}
	if _, err := co.ic.store.Report(ctx, h.Claim, change); err != nil {
		return fmt.Errorf("effectonce: fail %s: %w", h.Claim.Key, err)
	}
	return co.fail(ctx, h, c, end.err)
}

func (co *Completer) fail(ctx context.Context, h handle, c *call, failed error) error {
	_, err := co.client.WorkflowService().RespondActivityTaskFailedById(ctx, &workflowservice.RespondActivityTaskFailedByIdRequest{
		Namespace: h.Encoding.Namespace, WorkflowId: h.Encoding.WorkflowID, RunId: h.RunID, ActivityId: h.ActivityID,
		Failure: c.failureConverter(h.Encoding).ErrorToFailure(failed), Identity: co.ic.opts.Worker,
	})
	return told(h, err)
}

// told judges what Temporal said. That the task is gone is no error: the attempt timed
// out or the workflow was reset, and a later one hands out the record.
func told(h handle, err error) error {
	var gone *serviceerror.NotFound
	var over *serviceerror.FailedPrecondition // what is said of an activity without a workflow
	if err == nil || errors.As(err, &gone) || h.Encoding.WorkflowID == "" && errors.As(err, &over) {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrNotToldTemporal, h.Claim.Key, err)
}

// open returns the call that a handle stands for, as far as converters need it.
func (co *Completer) open(text string) (handle, *call, error) {
	h, err := readHandle(text)
	if err != nil {
		return h, nil, err
	}
	e := h.Encoding
	p := co.ic.opts.Policies[e.ActivityType]
	p.Operation = h.Operation
	c := &call{
		ic: co.ic, policy: &p, request: store.Request{Ref: h.Claim.Ref},
		info: activity.Info{
			Namespace: e.Namespace, WorkflowExecution: workflow.Execution{ID: e.WorkflowID, RunID: h.RunID}, WorkflowType: &workflow.Type{Name: e.WorkflowType},
			ActivityType: activity.Type{Name: e.ActivityType}, TaskQueue: e.TaskQueue, IsLocalActivity: e.Local,
		},
	}
	return h, c, nil
}
