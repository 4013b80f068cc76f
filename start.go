package effectonce

import (
	"context"

	"github.com/effectonce/effectonce/internal/ambient"
)

// StartWithTenant names the tenant of what a client starts with the returned context:
// workflows (also by signal or update), schedules, standalone activities. It has the
// effect of [WithTenant] in the whole workflow. The client needs the plugin or the
// interceptor.
func StartWithTenant(ctx context.Context, id string) context.Context {
	return ambient.WithStart(ctx, ambient.Tenant, id)
}

// StartWithAgent names the agent in the same way; see [WithAgent].
func StartWithAgent(ctx context.Context, id string) context.Context {
	return ambient.WithStart(ctx, ambient.Agent, id)
}
