package testsuite_test

import (
	"slices"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// history returns the events of one run.
func (l *lab) history(run client.WorkflowRun) []*historypb.HistoryEvent {
	l.t.Helper()
	var events []*historypb.HistoryEvent
	all := l.client.GetWorkflowHistory(l.t.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(l.t, err)
		events = append(events, e)
	}
	return events
}

// reset starts the run again from its n-th completed workflow task, counted from
// 1, and returns the new run.
func (l *lab) reset(run client.WorkflowRun, n int) client.WorkflowRun {
	l.t.Helper()
	var point int64
	for _, e := range l.history(run) {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			if n--; n == 0 {
				point = e.GetEventId()
			}
		}
	}
	require.NotZero(l.t, point, "the run has no such workflow task")
	answer, err := l.client.ResetWorkflowExecution(l.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         l.namespace,
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
		Reason:            "test", WorkflowTaskFinishEventId: point, RequestId: uuid.NewString(),
	})
	require.NoError(l.t, err)
	return l.client.GetWorkflow(l.t.Context(), run.GetID(), answer.GetRunId())
}

// results returns what activities returned, as bytes, by the order of their end.
// The result of a local activity is in its marker.
func results(events []*historypb.HistoryEvent) [][]byte {
	var found [][]byte
	for _, e := range events {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			found = append(found, bytesOf(e.GetActivityTaskCompletedEventAttributes().GetResult()))
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			found = append(found, bytesOf(e.GetMarkerRecordedEventAttributes().GetDetails()["result"]))
		}
	}
	return found
}

// bytesOf is nil for "no payload".
func bytesOf(p *commonpb.Payloads) []byte {
	if p == nil {
		return nil
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		panic(err)
	}
	return append([]byte("payloads:"), data...)
}

// attempts is the number of the last attempt of every activity that ended.
func attempts(events []*historypb.HistoryEvent) []int32 {
	var found []int32
	for _, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED {
			found = append(found, e.GetActivityTaskStartedEventAttributes().GetAttempt())
		}
	}
	return found
}

// pending are the activities and children that are under way in a run.
func (l *lab) pending(run client.WorkflowRun) *workflowservice.DescribeWorkflowExecutionResponse {
	l.t.Helper()
	d, err := l.client.DescribeWorkflow(l.t.Context(), run.GetID(), run.GetRunID())
	require.NoError(l.t, err)
	return d.RawResponse
}

// attemptsNow are the attempts of the activities that are under way in a run.
func (l *lab) attemptsNow(run client.WorkflowRun) []int32 {
	l.t.Helper()
	var found []int32
	for _, a := range l.pending(run).GetPendingActivities() {
		found = append(found, a.GetAttempt())
	}
	return found
}

// attempted reports whether an activity of the run has come to its n-th attempt.
func (l *lab) attempted(run client.WorkflowRun, n int32) func() bool {
	return func() bool {
		return slices.ContainsFunc(l.attemptsNow(run), func(attempt int32) bool { return attempt >= n })
	}
}

// lastFailure is the type of the last failure of the run's pending activity.
func (l *lab) lastFailure(run client.WorkflowRun) string {
	l.t.Helper()
	for _, a := range l.pending(run).GetPendingActivities() {
		if f := a.GetLastFailure(); f != nil {
			return f.GetApplicationFailureInfo().GetType()
		}
	}
	return ""
}
