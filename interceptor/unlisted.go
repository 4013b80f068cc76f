package interceptor

import (
	"context"
	"slices"
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

func (u Unlisted) valid() bool { return slices.Contains([]Unlisted{"", PassThrough, Guard, Refuse}, u) }

// classified is what a call is held to.
type classified struct {
	policy *Policy // nil: it passes through
	args   []any   // what the key is about
}

// classifyCall finds the policy of a call: that of its activity type, or that of the
// tool it is for.
func (ic *Interceptor) classifyCall(ctx context.Context, name string, args []any) (classified, error) {
	if p, ok := ic.policies[name]; ok {
		return classified{p, args}, nil
	}
	m, ok := ic.opts.Multiplexers[name]
	if !ok {
		if slices.Contains(ic.opts.ReadOnly, name) || strings.HasPrefix(name, "internalSession") {
			return classified{}, nil
		}
		return ic.unlisted(ctx, name, name, args, ic.opts.Unlisted)
	}
	tool, arguments, err := m.Tool(args)
	if err != nil {
		return classified{}, errRefused(name, effectonce.ErrTypeInput, true, "which tool it is for: %v", err)
	}
	if p, ok := m.Policies[tool]; ok {
		return classified{&p, arguments}, nil
	}
	if slices.Contains(m.ReadOnly, tool) {
		return classified{}, nil
	}
	return ic.unlisted(ctx, name+" "+tool, tool, arguments, m.Unlisted)
}

// unlisted applies u to what nobody has classified.
func (ic *Interceptor) unlisted(ctx context.Context, name, operation string, args []any, u Unlisted) (classified, error) {
	switch u {
	case Guard:
		p := Policy{Scope: effectonce.Call, Unknown: Rerun()}
		p.setDefaults(name, operation, ic.opts)
		return classified{&p, args}, nil
	case Refuse:
		return classified{}, errRefused(name, effectonce.ErrTypeScope, false,
			"it has no policy. Add one to Options.Policies, or its type to Options.ReadOnly")
	}
	if _, warned := ic.warned.LoadOrStore(name, true); !warned {
		activity.GetLogger(ctx).Warn("effectonce: this activity has no policy and is not protected; add one, or list it in Options.ReadOnly", "activity", name)
	}
	return classified{}, nil
}
