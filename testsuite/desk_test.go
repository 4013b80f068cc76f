package testsuite_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// order is the input of the activity Charge.
type order struct {
	ID    int64  `json:"id"`
	Cents int64  `json:"cents"`
	Note  string `json:"note,omitempty" effectonce:"ignore"`
}

// desk has the usual activity, Charge, and counts the runs of its body.
type desk struct {
	provider *provider.Client

	mu   sync.Mutex
	keys []string
}

func newDesk(url string) *desk { return &desk{provider: provider.NewClient(url)} }

// Charge takes money at the provider.
func (d *desk) Charge(ctx context.Context, in order) (provider.Receipt, error) {
	d.began(ctx)
	return d.charge(ctx, in)
}

// began notes the run of a body and its key.
func (d *desk) began(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, effectonce.Current(ctx).Key())
}

func (d *desk) charge(ctx context.Context, in order) (provider.Receipt, error) {
	receipt, err := d.provider.Charge(ctx, provider.Call{Key: effectonce.Current(ctx).Key()},
		provider.ChargeRequest{OrderID: in.ID, AmountCents: in.Cents, Note: in.Note})
	var declined *provider.DeclinedError
	if errors.As(err, &declined) {
		return receipt, effectonce.NotApplied(temporal.NewNonRetryableApplicationError("declined", "Declined", err))
	}
	return receipt, err
}

// ask is the ReconcileFunc of Charge.
func (d *desk) ask(ctx context.Context, q interceptor.Question) (interceptor.Answer, error) {
	answer, err := d.provider.AskKey(ctx, provider.Call{Key: q.Key})
	switch {
	case err != nil:
		return interceptor.Answer{}, err
	case answer.CannotTell:
		return interceptor.CannotTell("no questions answered"), nil
	case answer.Applied:
		return interceptor.Applied(answer.Receipt), nil
	}
	return interceptor.NotApplied(), nil
}

// bodies are the keys that each run of the body had.
func (d *desk) bodies() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys)
}

func register(w sdkworker.Registry, activities map[string]any) {
	for name, f := range activities {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// calling sets the options of activity calls: retries come every second, which is
// the finest that the server does.
func calling(ctx workflow.Context, startToClose time.Duration, attempts int32) workflow.Context {
	retries := &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: attempts}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: startToClose, RetryPolicy: retries})
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: startToClose, RetryPolicy: retries})
}

// charge returns a workflow that makes one charge.
func charge(startToClose time.Duration, attempts int32) func(workflow.Context, order) (provider.Receipt, error) {
	return func(ctx workflow.Context, in order) (r provider.Receipt, err error) {
		err = workflow.ExecuteActivity(calling(ctx, startToClose, attempts), "Charge", in).Get(ctx, &r)
		return r, err
	}
}

// chargeFor returns a workflow that makes one charge on behalf of a tenant.
func chargeFor(tenant string) func(workflow.Context, order) (provider.Receipt, error) {
	return func(ctx workflow.Context, in order) (provider.Receipt, error) {
		return charge(20*time.Second, 0)(effectonce.WithTenant(ctx, tenant), in)
	}
}
