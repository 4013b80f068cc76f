package interceptor

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"
)

const (
	runA = "0190a1b2-0000-7000-8000-00000000000a"
	runB = "0190a1b2-0000-7000-8000-00000000000b"
	runC = "0190a1b2-0000-7000-8000-00000000000c"
)

func TestRoots(t *testing.T) {
	t.Parallel()
	parent := roots{run: runA, chain: runA}
	child := parent.ofChild("Child", "id:x", 1)
	childHeader := header{Kind: startOfChild, Root: child.run, Chain: child.chain}
	next := parent.ofContinuation()
	canHeader := header{Kind: startOfContinuation, Root: next.run, Chain: next.chain, Sender: runA}
	inParent := &workflow.Execution{ID: "p", RunID: runA}

	tests := []struct {
		name   string
		info   workflow.Info
		header *header
		want   roots
	}{
		{"plain run", workflow.Info{OriginalRunID: runA, FirstRunID: runA}, nil, parent},
		{"after a reset the original run counts", workflow.Info{OriginalRunID: runA, FirstRunID: runA, WorkflowExecution: workflow.Execution{RunID: runB}}, nil, parent},
		{"test environment: only a run ID", workflow.Info{WorkflowExecution: workflow.Execution{RunID: runB}}, nil, roots{runB, runB}},
		{"start header of a client brings no root", workflow.Info{OriginalRunID: runB, FirstRunID: runB}, &header{Tenant: "t"}, roots{runB, runB}},
		{"child: the root its parent sent", workflow.Info{OriginalRunID: runB, FirstRunID: runB, ParentWorkflowExecution: inParent}, &childHeader, child},
		{"child header at a run that is no child", workflow.Info{OriginalRunID: runB, FirstRunID: runB}, &childHeader, roots{runB, runB}},
		{"child without a header", workflow.Info{OriginalRunID: runB, FirstRunID: runB, ParentWorkflowExecution: inParent}, nil, roots{runB, runB}},
		{"continued run", workflow.Info{OriginalRunID: runB, FirstRunID: runA, ContinuedExecutionRunID: runA}, &canHeader, next},
		{"continuation header of another run", workflow.Info{OriginalRunID: runB, FirstRunID: runA, ContinuedExecutionRunID: runC}, &canHeader, roots{runB, runA}},
		{"workflow retry is new work of the same chain", workflow.Info{OriginalRunID: runB, FirstRunID: runA, Attempt: 2, ContinuedExecutionRunID: runA}, &header{}, roots{derive(runA, "retry", "2"), runA}},
		{"retry of a child", workflow.Info{OriginalRunID: runB, FirstRunID: runC, Attempt: 2, ParentWorkflowExecution: inParent, ContinuedExecutionRunID: runC}, &childHeader, roots{derive(child.run, "retry", "2"), child.chain}},
		{"cron ignores headers", workflow.Info{OriginalRunID: runB, FirstRunID: runA, CronSchedule: "* * * * *", ParentWorkflowExecution: inParent}, &childHeader, roots{runB, runA}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := header{}
			if test.header != nil {
				h = *test.header
			}
			require.Equal(t, test.want, rootsOf(&test.info, h, test.header != nil))
		})
	}
}

func TestRoots_DerivedOnesDifferAndClusterWithTheirRun(t *testing.T) {
	t.Parallel()
	r := roots{run: runA, chain: runA}
	all := []string{
		r.run, r.ofContinuation().run, r.ofContinuation().ofContinuation().run,
		r.ofChild("C", "id:x", 1).run, r.ofChild("C", "id:x", 2).run, r.ofChild("D", "id:x", 1).run, r.ofChild("C", "id:y", 1).run,
		r.ofChild("C", "id:x", 1).ofChild("C", "id:x", 1).run, derive(runA, "retry", "2"),
		derive(runA, "a", "b\xff"), derive(runA, "a", "b\xfe"), derive(runA, "a", `b\xff`),
	}
	seen := map[string]bool{}
	for _, root := range all {
		require.False(t, seen[root], root)
		seen[root] = true
		require.Equal(t, [16]byte(uuid.MustParse(runA)), cluster(root))
	}
	require.NotEqual(t, cluster("default-test-run-id"), cluster("another"), "run IDs that are no UUIDs cluster too")
}

func TestUnstableID(t *testing.T) {
	t.Parallel()
	parent := &workflow.Execution{ID: "p", RunID: runA}
	require.True(t, unstableID(&workflow.Info{WorkflowExecution: workflow.Execution{ID: runA + "_5"}, ParentWorkflowExecution: parent}))
	require.False(t, unstableID(&workflow.Info{WorkflowExecution: workflow.Execution{ID: "mine"}, ParentWorkflowExecution: parent}))
	require.False(t, unstableID(&workflow.Info{WorkflowExecution: workflow.Execution{ID: runA + "_5"}}))
}
