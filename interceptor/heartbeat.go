package interceptor

import (
	"context"
	"slices"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
)

// activityOutbound remembers what the body last said about its progress: whoever
// heartbeats for another reason must say it again, or it is lost.
type activityOutbound struct {
	sdkinterceptor.ActivityOutboundInterceptorBase
	mu      sync.Mutex
	known   bool
	details []any
}

// Init puts the outbound side into the chain of one attempt.
func (a *activityInbound) Init(outbound sdkinterceptor.ActivityOutboundInterceptor) error {
	a.out.Next = outbound
	return a.Next.Init(&a.out)
}

// RecordHeartbeat is called for every heartbeat of the attempt.
func (o *activityOutbound) RecordHeartbeat(ctx context.Context, details ...any) {
	o.mu.Lock()
	o.known, o.details = true, slices.Clone(details)
	o.mu.Unlock()
	o.Next.RecordHeartbeat(ctx, details...)
}

// last returns what was said last, in this attempt or in the one before.
func (o *activityOutbound) last(ctx context.Context) []any {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known {
		o.known, o.details = true, lastDetails(ctx)
	}
	return o.details
}

// keepAlive heartbeats while we wait.
func (c *call) keepAlive(ctx context.Context) {
	if c.info.HeartbeatTimeout <= 0 || c.info.IsLocalActivity {
		return
	}
	activity.RecordHeartbeat(ctx, c.out.last(ctx)...)
}

// lastDetails returns the heartbeat details of the attempt before, undecoded. Their
// number is not known: reading too many is an error.
func lastDetails(ctx context.Context) []any {
	if !activity.HasHeartbeatDetails(ctx) {
		return nil
	}
	const most = 16
	for n := most; n > 0; n-- {
		raw := make([]converter.RawValue, n)
		into, details := make([]any, n), make([]any, n)
		for i := range raw {
			into[i] = &raw[i]
		}
		if activity.GetHeartbeatDetails(ctx, into...) == nil {
			for i := range raw {
				details[i] = raw[i]
			}
			return details
		}
	}
	return nil
}
