package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/activities"
)

// SingleRefundInput is the input of [SingleRefund].
type SingleRefundInput struct {
	// Tenant is the customer on whose behalf the refund is made; needed where the policy has scope Tenant.
	Tenant string                 `json:"tenant,omitempty"`
	Refund activities.RefundInput `json:"refund"`
	Calls  CallOptions            `json:"calls"`
}

// SingleRefund makes one refund. It fails with the tool's error, "Declined" included.
func SingleRefund(ctx workflow.Context, in SingleRefundInput) (activities.Receipt, error) {
	ctx = in.Calls.apply(ctx)
	if in.Tenant != "" {
		ctx = effectonce.WithTenant(ctx, in.Tenant)
	}
	var receipt activities.Receipt
	err := workflow.ExecuteActivity(ctx, tools.Refund, in.Refund).Get(ctx, &receipt)
	return receipt, err
}
