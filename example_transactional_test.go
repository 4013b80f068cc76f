package effectonce_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store/sqlite"
)

// Accounts books refunds in the records' own database.
type Accounts struct{ records *sqlite.Store }

// Book writes a row, and commits it together with what it returns.
func (a *Accounts) Book(ctx context.Context, in RefundInput) (Receipt, error) {
	tx, err := a.records.DB().BeginTx(ctx, nil)
	if err != nil {
		return Receipt{}, err
	}
	defer tx.Rollback() //nolint:errcheck // over, mostly
	row, err := tx.ExecContext(ctx, "INSERT INTO refunds (order_id, cents) VALUES (?, ?)", in.OrderID, in.Cents)
	if err != nil {
		return Receipt{}, err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{ID: fmt.Sprintf("refund-%d", id)}
	return receipt, a.records.CommitTx(ctx, tx, receipt)
}

// The effect is a row in the records' own database. It and its outcome are committed
// together, so that nothing that happens after the commit can repeat it, and nothing
// that happens before leaves anything behind. With PostgreSQL it is the same, with a
// pgx.Tx.
func Example_transactional() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "effectonce")
	check(err)
	defer os.RemoveAll(folder) //nolint:errcheck // an example
	records, err := sqlite.Open(ctx, filepath.Join(folder, "records.db"), sqlite.Options{})
	check(err)
	defer records.Close() //nolint:errcheck // an example
	_, err = records.DB().ExecContext(ctx, "CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER, cents INTEGER)")
	check(err)

	plugin, err := interceptor.New(records, interceptor.Options{
		Policies:      map[string]interceptor.Policy{"Book": {Scope: effectonce.Namespace, Unknown: interceptor.Transactional()}},
		DataConverter: converter.GetDefaultDataConverter(),
	})
	check(err)
	accounts := &Accounts{records}
	crashing := func(ctx context.Context, in RefundInput) (Receipt, error) {
		if _, err := accounts.Book(ctx, in); err != nil {
			return Receipt{}, err
		}
		return Receipt{}, errors.New("something went wrong afterwards")
	}

	for _, body := range []any{crashing, accounts.Book} {
		var suite sdktest.WorkflowTestSuite
		suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
		env := suite.NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []sdkinterceptor.WorkerInterceptor{plugin}})
		env.RegisterActivityWithOptions(body, activity.RegisterOptions{Name: "Book"})
		value, err := env.ExecuteActivity("Book", RefundInput{OrderID: 7, Cents: 500})
		check(err)
		var receipt Receipt
		check(value.Get(&receipt))
		fmt.Println(receipt.ID)
	}
	var rows int
	check(records.DB().QueryRowContext(ctx, "SELECT count(*) FROM refunds").Scan(&rows))
	fmt.Println("rows:", rows)
	// Output:
	// refund-1
	// refund-1
	// rows: 1
}
