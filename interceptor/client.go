package interceptor

import (
	"context"

	"go.temporal.io/sdk/client"
	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce/internal/ambient"
)

// The client side sends tenant and agent with whatever it starts.

type clientSide struct {
	sdkinterceptor.ClientInterceptorBase
}

// InterceptClient is called by the SDK.
func (*clientSide) InterceptClient(next sdkinterceptor.ClientOutboundInterceptor) sdkinterceptor.ClientOutboundInterceptor {
	c := &clientOutbound{}
	c.Next = next
	return c
}

// InterceptClient is called by the SDK.
func (ic *Interceptor) InterceptClient(next sdkinterceptor.ClientOutboundInterceptor) sdkinterceptor.ClientOutboundInterceptor {
	return (&clientSide{}).InterceptClient(next)
}

type clientOutbound struct {
	sdkinterceptor.ClientOutboundInterceptorBase
}

// announce puts what ctx says into the outgoing header.
func announce(ctx context.Context) error {
	h := header{Tenant: ambient.OfStart(ctx, ambient.Tenant), Agent: ambient.OfStart(ctx, ambient.Agent)}
	fields := sdkinterceptor.Header(ctx)
	if h == (header{}) || fields == nil || fields[headerName] != nil {
		return nil
	}
	p, err := h.payload()
	if err != nil {
		return err
	}
	fields[headerName] = p
	return nil
}

func (c *clientOutbound) ExecuteWorkflow(ctx context.Context, in *sdkinterceptor.ClientExecuteWorkflowInput) (client.WorkflowRun, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return c.Next.ExecuteWorkflow(ctx, in)
}

func (c *clientOutbound) SignalWithStartWorkflow(ctx context.Context, in *sdkinterceptor.ClientSignalWithStartWorkflowInput) (client.WorkflowRun, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return c.Next.SignalWithStartWorkflow(ctx, in)
}

func (c *clientOutbound) UpdateWithStartWorkflow(ctx context.Context, in *sdkinterceptor.ClientUpdateWithStartWorkflowInput) (client.WorkflowUpdateHandle, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return c.Next.UpdateWithStartWorkflow(ctx, in)
}

func (c *clientOutbound) CreateSchedule(ctx context.Context, in *sdkinterceptor.ScheduleClientCreateInput) (client.ScheduleHandle, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return c.Next.CreateSchedule(ctx, in)
}

func (c *clientOutbound) ExecuteActivity(ctx context.Context, in *sdkinterceptor.ClientExecuteActivityInput) (client.ActivityHandle, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return c.Next.ExecuteActivity(ctx, in)
}
