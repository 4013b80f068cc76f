// Package activities holds the tools of a support agent: they move money, send mail and open
// tickets at an outside provider.
//
//	w.RegisterActivity(&activities.Activities{Provider: provider.NewClient(url)})
//
// The bodies show what effectonce asks of an activity, and all that it asks: send the key of the
// action along, mark the errors that prove that nothing happened, and return every other error as
// it is. They know nothing of the interceptor and the store, and run without them too.
//
// # What the errors say
//
//	"Declined", non-retryable      not applied; the same call may succeed once the reason is gone
//	"Refused", non-retryable       not applied; the request itself is wrong
//	*provider.RefusedError         not applied; retried
//	any other                      nobody knows whether it was applied
//
// # Concurrency
//
// One [Activities] serves all activities of a worker at once.
package activities

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/internal/provider"
)

// Types of the errors that a workflow can tell apart.
const (
	// ErrTypeDeclined is the type of the error when the provider declined: a definite no.
	ErrTypeDeclined = "Declined"
	// ErrTypeRefused is the type of the error when the request cannot be right.
	ErrTypeRefused = "Refused"
)

// Activities are the tools. Every exported method is an activity.
type Activities struct {
	// Provider is where the effects happen. Required.
	Provider *provider.Client
	// Bodies is told of every run of a body; nil tells nobody.
	Bodies BodyLog

	asked atomic.Int64 // how often the model was asked, by this process
}

// BodyLog counts the runs of activity bodies, which is what Temporal makes of one call. It is
// called by many goroutines at once.
type BodyLog interface {
	// BodyStarted is called when the body of an activity starts to run, with the name of the
	// activity and the support case it works on.
	BodyStarted(activity, supportCase string)
}

// Receipt is the provider's proof of an effect.
type Receipt = provider.Receipt

// started tells the body log.
func (a *Activities) started(activity, supportCase string) {
	if a.Bodies != nil {
		a.Bodies.BodyStarted(activity, supportCase)
	}
}

// effect makes one request to the provider, in the name of the action that ctx carries.
func (a *Activities) effect(ctx context.Context, activity, supportCase string, send func(provider.Call) (Receipt, error)) (Receipt, error) {
	a.started(activity, supportCase)
	if ctx.Err() != nil {
		// Too late to start. Not marked NotApplied: an earlier attempt may have sent the request.
		return Receipt{}, context.Cause(ctx)
	}
	call := provider.Call{Case: supportCase, Key: effectonce.Current(ctx).Key()}
	receipt, err := send(call)
	var reused *provider.KeyReusedError
	if errors.As(err, &reused) {
		return a.appliedBefore(ctx, call, err)
	}
	if err != nil {
		return Receipt{}, outcome(ctx, err)
	}
	return receipt, nil
}

// appliedBefore finds the receipt of the request that used the key first. Since the key stands for
// the action, that request meant the same and differed at most in text that does not count, such as
// a note that the model has reworded since.
func (a *Activities) appliedBefore(ctx context.Context, call provider.Call, reused error) (Receipt, error) {
	answer, err := a.Provider.AskKey(ctx, call)
	if err != nil || !answer.Applied {
		return Receipt{}, errors.Join(reused, err)
	}
	return answer.Receipt, nil
}

// outcome says what the provider's error means for the effect. Whatever does not prove that
// nothing happened stays as it is: a lost answer looks like any other network error.
func outcome(ctx context.Context, err error) error {
	var (
		declined *provider.DeclinedError
		refused  *provider.RefusedError
	)
	switch {
	case errors.As(err, &declined):
		return notApplied(ctx, temporal.NewNonRetryableApplicationError(err.Error(), ErrTypeDeclined, err, declined.Code))
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError:
		return notApplied(ctx, temporal.NewNonRetryableApplicationError(err.Error(), ErrTypeRefused, err, refused.Code))
	case errors.As(err, &refused):
		return notApplied(ctx, err)
	}
	return err
}

// notApplied marks err. Without the interceptor nobody would take the mark off again, and Temporal
// would not see that the error is non-retryable.
func notApplied(ctx context.Context, err error) error {
	if effectonce.Current(ctx).Key() == "" {
		return err
	}
	return effectonce.NotApplied(err)
}
