package interceptor

import (
	"context"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/effectonce/effectonce"
)

// Unlisted says what happens to an activity that has no policy and is not listed as
// read-only.
type Unlisted string

const (
	// PassThrough runs it as Temporal does, with one warning per type. The default.
	PassThrough Unlisted = "pass_through"
	// Guard protects it as far as that is possible without knowing it: scope Call,
	// Rerun. A call that was completed is never run again, whatever is retried or
	// reset; one that was not is run again as Temporal would.
	Guard Unlisted = "guard"
	// Refuse fails it with ErrTypeScope, retryably: nothing runs until it has a
	// policy.
	Refuse Unlisted = "refuse"
)

// policyFor returns the policy of an activity, or false if it passes through.
func (ic *Interceptor) policyFor(ctx context.Context, name string) (Policy, bool, error) {
	if p, ok := ic.opts.Policies[name]; ok {
		return p, true, nil
	}
	if ic.readOnly[name] || strings.HasPrefix(name, "internalSession") {
		return Policy{}, false, nil
	}
	switch ic.opts.Unlisted {
	case Guard:
		p := Policy{Scope: effectonce.Call, Unknown: Rerun()}
		p.setDefaults(name, ic.opts)
		return p, true, nil
	case Refuse:
		return Policy{}, false, errRefused(name, effectonce.ErrTypeScope, false,
			"it has no policy. Add one to Options.Policies, or its type to Options.ReadOnly")
	}
	if _, warned := ic.warned.LoadOrStore(name, true); !warned {
		activity.GetLogger(ctx).Warn("effectonce: this activity has no policy and is not protected; add one, or list it in Options.ReadOnly", "activity_type", name)
	}
	return Policy{}, false, nil
}
