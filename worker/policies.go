package main

import (
	"context"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
)

// policies says what exactly-once means for each tool: when two equal calls are one action, and what
// may happen when nobody knows whether it was done.
//
// PlanStep and LookupOrder are not in it. They change nothing, so Temporal's own retries are enough.
func policies(p *provider.Client) map[string]interceptor.Policy {
	return map[string]interceptor.Policy{
		// An order is refunded once for a customer, whichever agent proposes it, in whatever words,
		// this week or the next. The provider knows what it did under a key: ask it.
		"Refund": {Scope: effectonce.Tenant, Unknown: interceptor.Reconcile(askProvider(p))},

		// One ticket per turn of the human, even if the model asks again or the workflow is reset.
		"CreateTicket": {Scope: effectonce.Run, Unknown: interceptor.Reconcile(askProvider(p))},

		// The same for mail. The provider honours keys, so to send it once more under the same key
		// is safe, and cheaper than to ask.
		"SendEmail": {Scope: effectonce.Run, Unknown: interceptor.Rerun()},

		// Three equal reminders in a row are meant: every call of the workflow is an action, and
		// only its own retries and resets are not.
		"SendReminder": {Scope: effectonce.Call, Unknown: interceptor.Rerun()},
	}
}

// askProvider finds out what became of an action, by the key that its activity sent along.
func askProvider(p *provider.Client) interceptor.ReconcileFunc {
	return func(ctx context.Context, q interceptor.Question) (interceptor.Answer, error) {
		answer, err := p.AskKey(ctx, provider.Call{Key: q.Key})
		switch {
		case err != nil:
			return interceptor.Answer{}, err
		case answer.CannotTell:
			return interceptor.CannotTell("the provider answers no questions"), nil
		case answer.Applied:
			return interceptor.Applied(answer.Receipt), nil
		}
		return interceptor.NotApplied(), nil
	}
}
