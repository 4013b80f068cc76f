package interceptor

import (
	"cmp"

	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/internal/ambient"
)

// The workflow side adds headers. It issues no commands, consults no store, fails
// no call, and depends on nothing but the workflow's own state, so that histories
// replay with and without it.

type workflowInbound struct {
	sdkinterceptor.WorkflowInboundInterceptorBase
	out *workflowOutbound
}

// Init puts the outbound side, which knows the run, into the chain.
func (w *workflowInbound) Init(outbound sdkinterceptor.WorkflowOutboundInterceptor) error {
	w.out = &workflowOutbound{calls: newCalls(afterAnyError), children: newCalls(afterNoStart)}
	w.out.Next = outbound
	return w.Next.Init(w.out)
}

// ExecuteWorkflow reads the start header, which no other context carries.
func (w *workflowInbound) ExecuteWorkflow(ctx workflow.Context, in *sdkinterceptor.ExecuteWorkflowInput) (any, error) {
	h, ok, err := readHeader(sdkinterceptor.WorkflowHeader(ctx))
	if err != nil {
		// The run cannot know its root; its activities will say so, where it can wait
		// for a deploy without failing the workflow.
		w.out.unreadable = err.Error()
		workflow.GetLogger(ctx).Error("effectonce: start header refused", "error", err)
	} else if info := workflow.GetInfo(ctx); h.Root == "" && info.ParentWorkflowExecution != nil {
		workflow.GetMetricsHandler(ctx).Counter("effectonce_child_without_root").Inc(1)
		workflow.GetLogger(ctx).Warn("effectonce: the parent sent no root (it has no interceptor, or the child's input cannot be canonicalised): actions of this child are not recognised after a reset of the parent",
			"parent", info.ParentWorkflowExecution.ID)
	}
	if h.Unreadable != "" { // an ancestor could not read its own: its root may be wrong, and so may ours
		w.out.unreadable = h.Unreadable
	}
	w.out.start, w.out.startOK = h, ok && err == nil
	return w.Next.ExecuteWorkflow(ctx, in)
}

type workflowOutbound struct {
	sdkinterceptor.WorkflowOutboundInterceptorBase

	start      header
	startOK    bool
	unreadable string

	calls    calls
	children calls
}

// ExecuteActivity adds the header of one activity call.
func (w *workflowOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	opened := w.announce(ctx, activityType, args)
	f := w.Next.ExecuteActivity(ctx, activityType, args...)
	opened(f)
	return f
}

// ExecuteLocalActivity does the same for local activities.
func (w *workflowOutbound) ExecuteLocalActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	opened := w.announce(ctx, activityType, args)
	f := w.Next.ExecuteLocalActivity(ctx, activityType, args...)
	opened(f)
	return f
}

func (w *workflowOutbound) announce(ctx workflow.Context, activityType string, args []any) (opened func(workflow.Future)) {
	opened = func(workflow.Future) {}
	info := workflow.GetInfo(ctx)
	r := rootsOf(info, w.start, w.startOK)
	h := w.ambient(ctx)
	h.Root, h.Chain = r.run, r.chain
	h.Intent, h.ActionID = ambient.From(ctx, ambient.Intent), ambient.From(ctx, ambient.ActionID)
	h.Cron, h.UnstableID, h.Unreadable = info.CronSchedule != "", unstableID(info), w.unreadable
	if equal, ok := equality(r.run, activityType, args, h); ok {
		var number int
		number, opened = w.calls.take(ctx, equal)
		if token, err := callToken(equal, number); err == nil {
			h.Call = token
		}
	}
	w.send(ctx, h)
	return opened
}

// ExecuteChildWorkflow gives the child its root.
func (w *workflowOutbound) ExecuteChildWorkflow(ctx workflow.Context, childType string, args ...any) workflow.ChildWorkflowFuture {
	h := w.ambient(ctx)
	h.Unreadable = w.unreadable
	id, ok := childID(ctx, args)
	if !ok {
		// Nothing tells this child from others of its type; numbers alone could swap
		// after a reset. It goes by its own run.
		w.send(ctx, h)
		return w.Next.ExecuteChildWorkflow(ctx, childType, args...)
	}
	r := rootsOf(workflow.GetInfo(ctx), w.start, w.startOK)
	number, opened := w.children.take(ctx, derive(r.run, "equal", childType, id))
	r = r.ofChild(childType, id, number)
	h.Kind, h.Root, h.Chain = startOfChild, r.run, r.chain
	w.send(ctx, h)
	f := w.Next.ExecuteChildWorkflow(ctx, childType, args...)
	opened(f.GetChildWorkflowExecution())
	return f
}

// childID returns what a child is known by: its explicit workflow ID, or its input.
func childID(ctx workflow.Context, args []any) (string, bool) {
	if id := workflow.GetChildWorkflowOptions(ctx).WorkflowID; id != "" {
		return "id:" + id, true
	}
	input, err := inputOf(args)
	return "input:" + string(input), err == nil
}

// NewContinueAsNewError gives the next run its root.
func (w *workflowOutbound) NewContinueAsNewError(ctx workflow.Context, wfn any, args ...any) error {
	w.continuation(ctx)
	return w.Next.NewContinueAsNewError(ctx, wfn, args...)
}

// NewContinueAsNewErrorWithOptions does the same; the SDK calls one or the other.
func (w *workflowOutbound) NewContinueAsNewErrorWithOptions(
	ctx workflow.Context, options workflow.ContinueAsNewErrorOptions, wfn any, args ...any,
) error {
	w.continuation(ctx)
	return w.Next.NewContinueAsNewErrorWithOptions(ctx, options, wfn, args...)
}

func (w *workflowOutbound) continuation(ctx workflow.Context) {
	info := workflow.GetInfo(ctx)
	h := w.ambient(ctx)
	r := rootsOf(info, w.start, w.startOK).ofContinuation()
	h.Kind, h.Root, h.Chain, h.Unreadable = startOfContinuation, r.run, r.chain, w.unreadable
	h.Sender = info.WorkflowExecution.RunID
	w.send(ctx, h)
}

// ambient returns a header with what travels everywhere: tenant and agent.
func (w *workflowOutbound) ambient(ctx workflow.Context) header {
	return header{
		Tenant: cmp.Or(ambient.From(ctx, ambient.Tenant), w.start.Tenant),
		Agent:  cmp.Or(ambient.From(ctx, ambient.Agent), w.start.Agent),

		Invalid: w.start.Invalid,
	}
}

// send puts h into the outgoing header, unless an outer copy of this interceptor
// has done so already.
func (w *workflowOutbound) send(ctx workflow.Context, h header) {
	fields := sdkinterceptor.WorkflowHeader(ctx)
	if fields == nil || fields[headerName] != nil {
		return
	}
	p, err := h.payload()
	if err != nil {
		workflow.GetLogger(ctx).Error("effectonce: header not sent", "error", err)
		return
	}
	fields[headerName] = p
}
