package effectonce_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store/memory"
)

// The parts that the examples share: a payment provider and the tools that use it.

// Tools are the activities of the examples.
type Tools struct{ payments paymentProvider }

// RefundInput is what a refund needs. The note is free text, which a model rewords.
type RefundInput struct {
	OrderID int64  `json:"order_id"`
	Cents   int64  `json:"cents"`
	Note    string `json:"note"`
}

// Receipt proves a refund.
type Receipt struct {
	ID string `json:"id"`
}

var errDeclined = errors.New("declined")

type paymentProvider struct{ refunds *int }

func (p paymentProvider) Refund(_ context.Context, _ string, _ RefundInput) (Receipt, error) {
	*p.refunds++
	return Receipt{ID: fmt.Sprintf("refund-%d", *p.refunds)}, nil
}

func askPaymentProvider(context.Context, interceptor.Question) (interceptor.Answer, error) {
	return interceptor.CannotTell("this one keeps no books"), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A tool is called twice with different words, as models do, and refunds once.
func Example() {
	plugin, err := interceptor.New(memory.New(memory.Options{}), interceptor.Options{
		Policies: map[string]interceptor.Policy{
			"Refund": {Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Ignore: []string{"/0/note"}},
		},
		DataConverter: converter.GetDefaultDataConverter(),
	})
	check(err)
	refunds := 0
	tools := &Tools{payments: paymentProvider{&refunds}}

	for _, note := range []string{"as promised", "as we promised you"} {
		var suite sdktest.WorkflowTestSuite
		suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []sdkinterceptor.WorkerInterceptor{plugin}})
		env.RegisterActivityWithOptions(tools.Refund, activity.RegisterOptions{Name: "Refund"})
		value, err := env.ExecuteActivity("Refund", RefundInput{OrderID: 7, Cents: 500, Note: note})
		check(err)
		var receipt Receipt
		check(value.Get(&receipt))
		fmt.Println(receipt.ID)
	}
	fmt.Println("refunds:", refunds)
	// Output:
	// refund-1
	// refund-1
	// refunds: 1
}
