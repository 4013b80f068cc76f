package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce/internal/process"
	"github.com/effectonce/effectonce/internal/provider"
)

// session is a trial on the stage: what a play can do.
type session struct {
	trial
	*company

	note string // for the reader of the table
}

// start starts a workflow of this trial. suffix tells it from others of the trial; it may be empty.
func (s *session) start(ctx context.Context, suffix string, workflow, input any) (client.WorkflowRun, error) {
	registered := "without effectonce"
	if s.with {
		registered = "with effectonce"
	}
	return s.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:            s.name() + suffix,
		TaskQueue:     s.taskQueue(),
		StaticSummary: fmt.Sprintf("%s: %s, %s", s.row.id, s.row.title, registered),
	}, workflow, input)
}

// reset resets a workflow to its start, as an operator does, and returns the new run.
func (s *session) reset(ctx context.Context, run client.WorkflowRun) (client.WorkflowRun, error) {
	first, err := s.firstTask(ctx, run)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 client.DefaultNamespace,
		WorkflowExecution:         &commonpb.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
		Reason:                    "effectonce demo, row " + s.row.id,
		WorkflowTaskFinishEventId: first,
		RequestId:                 uuid.NewString(),
	})
	if err != nil {
		return nil, fmt.Errorf("reset %s: %w", run.GetID(), err)
	}
	return s.client.GetWorkflow(ctx, run.GetID(), answer.GetRunId()), nil
}

// firstTask returns the event with which the first workflow task was completed.
func (s *session) firstTask(ctx context.Context, run client.WorkflowRun) (int64, error) {
	history := s.client.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return 0, fmt.Errorf("read the history of %s: %w", run.GetID(), err)
		}
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return event.GetEventId(), nil
		}
	}
	return 0, fmt.Errorf("reset %s: it has not started", run.GetID())
}

// crashing starts a worker that dies after the first effect. The returned function waits for that.
func (s *session) crashing() (died func(context.Context) error, err error) {
	child, err := s.worker(s.name()+"-1", s.row.id, s.with, true)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		select {
		case <-child.Done():
		case <-ctx.Done():
			return fmt.Errorf("wait for the worker to die: %w", context.Cause(ctx))
		}
		return killed(child)
	}, nil
}

// surviving starts a worker that goes on.
func (s *session) surviving() error {
	_, err := s.worker(s.name()+"-2", s.row.id, s.with, false)
	return err
}

// killed returns nil if child was ended by SIGKILL.
func killed(child *process.Child) error {
	err := child.Wait(context.Background())
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	return fmt.Errorf("the worker was not killed: %w", err)
}

// effects returns the effects of this trial.
func (s *session) effects(ctx context.Context) ([]provider.Effect, error) {
	return s.provider.Effects(ctx, provider.Filter{Case: s.name()})
}

// until calls probe until it returns true.
func until(ctx context.Context, what string, probe func() (bool, error)) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if done, err := probe(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, context.Cause(ctx))
		case <-again.C:
		}
	}
}
