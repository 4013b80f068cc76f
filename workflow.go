package effectonce

import (
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/internal/ambient"
)

// WithTenant names the tenant on whose behalf calls are made with the returned
// context. It reaches activities, child workflows and continued runs. Scopes
// [Tenant] and [Agent] need it.
func WithTenant(ctx workflow.Context, id string) workflow.Context {
	return ambient.With(ctx, ambient.Tenant, id)
}

// WithAgent names the agent that makes calls with the returned context. It
// travels like the tenant. Scope [Agent] needs it.
func WithAgent(ctx workflow.Context, id string) workflow.Context {
	return ambient.With(ctx, ambient.Agent, id)
}

// WithIntent names what the calls made with the returned context are for: a human
// turn, an approval. It becomes part of the key in scopes [Run] and [Chain]: equal
// calls under two intents are two actions. It does not reach child workflows.
func WithIntent(ctx workflow.Context, id string) workflow.Context {
	return ambient.With(ctx, ambient.Intent, id)
}

// WithActionID makes id the explicit key of the calls made with the returned
// context: an ID that some system assigned to the intended effect. The input is
// then the fingerprint: the same ID with another input is refused. It does not
// reach child workflows.
func WithActionID(ctx workflow.Context, id string) workflow.Context {
	return ambient.With(ctx, ambient.ActionID, id)
}
