package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// CallOptions say how activities are called. The zero value is good for production.
type CallOptions struct {
	// StartToClose is how long one attempt may take. Default 10s.
	StartToClose time.Duration `json:"start_to_close,omitempty"`
	// MaximumAttempts limits the attempts of one call; 0 means no limit.
	MaximumAttempts int32 `json:"maximum_attempts,omitempty"`
}

// apply returns a context for calls with these options.
func (o CallOptions) apply(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: cmp.Or(o.StartToClose, 10*time.Second),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    10 * time.Second,
			MaximumAttempts:    o.MaximumAttempts,
		},
	})
}
