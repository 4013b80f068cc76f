package effectonce_test

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store/postgres"
)

func Example_worker() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://localhost/actions")
	check(err)
	check(postgres.Migrate(ctx, pool, postgres.Options{}))
	records, err := postgres.New(pool, postgres.Options{})
	check(err)

	plugin, err := interceptor.NewPlugin(records, interceptor.Options{
		Policies: map[string]interceptor.Policy{
			"Refund":       {Scope: effectonce.Tenant, Unknown: interceptor.Reconcile(askPaymentProvider), Ignore: []string{"/0/note"}},
			"SendEmail":    {Scope: effectonce.Run, Unknown: interceptor.Hold()},
			"SendReminder": {Scope: effectonce.Call, Unknown: interceptor.Rerun()},
		},
	})
	check(err)
	temporal, err := client.Dial(client.Options{Plugins: []client.Plugin{plugin}})
	check(err)
	w := worker.New(temporal, "agent", worker.Options{WorkerStopTimeout: 30 * time.Second})
	w.RegisterActivity(&Tools{})
	check(w.Run(worker.InterruptCh()))
}

func (t *Tools) Refund(ctx context.Context, in RefundInput) (Receipt, error) {
	receipt, err := t.payments.Refund(ctx, effectonce.Current(ctx).Key(), in) // the same key on every attempt
	if errors.Is(err, errDeclined) {
		return Receipt{}, effectonce.NotApplied(err) // proof that nothing happened
	}
	return receipt, err // any other error may hide a refund: the policy decides
}
