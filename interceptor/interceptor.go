package interceptor

import (
	"context"
	"sync"

	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/internal/outlive"
	"github.com/effectonce/effectonce/store"
)

// Interceptor gives the activities of a worker exactly-once effect. Make one with
// [New], or use [NewPlugin].
type Interceptor struct {
	sdkinterceptor.InterceptorBase
	store    store.Store
	opts     Options
	policies map[string]*Policy // those of opts
	renewals *renewals
	reports  *outlive.Callers
	shadows  sync.WaitGroup
	warned   sync.Map // activity types, so that each is warned about once
}

var _ sdkinterceptor.Interceptor = (*Interceptor)(nil)

// InterceptActivity is called by the SDK.
func (ic *Interceptor) InterceptActivity(
	_ context.Context, next sdkinterceptor.ActivityInboundInterceptor,
) sdkinterceptor.ActivityInboundInterceptor {
	a := &activityInbound{ic: ic}
	a.Next = next
	return a
}

// InterceptWorkflow is called by the SDK.
func (ic *Interceptor) InterceptWorkflow(
	_ workflow.Context, next sdkinterceptor.WorkflowInboundInterceptor,
) sdkinterceptor.WorkflowInboundInterceptor {
	w := &workflowInbound{}
	w.Next = next
	return w
}
