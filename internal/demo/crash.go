package demo

import (
	"context"
	"os"

	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce/store"
)

// die ends this process as kill -9 does, at once and without a last word.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal is on its way
}

// crashingStore is a store whose process dies when a success is to be recorded: after the effect,
// before the record.
type crashingStore struct{ store.Store }

func (s crashingStore) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if c.Verb == store.Complete {
		die()
	}
	return s.Store.Report(ctx, held, c)
}

// crashAfterBody is the same moment where there is no store: the body has returned, and Temporal
// does not know yet.
type crashAfterBody struct {
	sdkinterceptor.WorkerInterceptorBase
}

func (*crashAfterBody) InterceptActivity(
	_ context.Context, next sdkinterceptor.ActivityInboundInterceptor,
) sdkinterceptor.ActivityInboundInterceptor {
	in := &crashAfterBodyInbound{}
	in.Next = next
	return in
}

type crashAfterBodyInbound struct {
	sdkinterceptor.ActivityInboundInterceptorBase
}

func (in *crashAfterBodyInbound) ExecuteActivity(ctx context.Context, call *sdkinterceptor.ExecuteActivityInput) (any, error) {
	result, err := in.Next.ExecuteActivity(ctx, call)
	if err == nil {
		die()
	}
	return result, err
}
