package testsuite_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
)

// Batch charges several orders, each as a sub-effect.
func (d *desk) Batch(ctx context.Context, orders []order) (ids []string, err error) {
	for _, in := range orders {
		receipt, err := effectonce.Do(ctx, "charge", in, func(ctx context.Context) (provider.Receipt, error) {
			return d.Charge(ctx, in)
		})
		if err != nil {
			return nil, err
		}
		ids = append(ids, receipt.ID)
	}
	return ids, nil
}

// A worker is killed in the middle of a batch: the next one goes on, and every item
// has one effect.
func TestWorkerKilledInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	orders := []order{{ID: 1, Cents: 5}, {ID: 2, Cents: 5}, {ID: 3, Cents: 5}, {ID: 4, Cents: 5}, {ID: 5, Cents: 5}}
	points := []struct {
		at      halt
		passing int64
		effects int // when it is killed
	}{
		{beforeEffect, 3, 2}, // the third item is claimed; the first claim is the batch's
		{beforeRecord, 2, 3}, // it is charged
		{afterRecord, 2, 3},  // it is written down
		{afterRecord, 5, 5},  // the batch is, and Temporal has not heard
	}
	for name, fresh := range durable {
		for _, p := range points {
			t.Run(fmt.Sprintf("%s/%s %d", name, p.at, p.passing), func(t *testing.T) {
				t.Parallel()
				url := fresh(t)
				l := newLab(t, on(opened(t, url)))
				l.work(setup{options: crashing(l.desk, "Hold"), worker: workflowsOnly, workflows: map[string]any{
					"main": func(ctx workflow.Context, in []order) (ids []string, err error) {
						return ids, workflow.ExecuteActivity(calling(ctx, 3*time.Second, 0), "Batch", in).Get(ctx, &ids)
					},
				}})
				var run client.WorkflowRun
				l.killed(plan{Store: url, Policy: "Hold", Halt: p.at, Passing: p.passing}, func() { run = l.start("main", orders) })
				require.Len(t, l.effects(), p.effects)
				l.work(setup{activities: map[string]any{"Charge": l.Charge, "Batch": l.Batch}, options: crashing(l.desk, "Hold"), worker: activitiesOnly})
				want := []string{"charge-1", "charge-2", "charge-3", "charge-4", "charge-5"}
				assert.Equal(t, want, await[[]string](l, run))
				assert.Equal(t, want, await[[]string](l, l.reset(run, 1)))
				assert.Len(t, l.effects(), len(orders))
				assert.Len(t, l.bodies(), len(orders)-p.effects, "the second worker does what is left")
				keys := keysOf(l.effects())
				slices.Sort(keys)
				assert.Len(t, slices.Compact(keys), len(orders), "each item has a key of its own")
				for _, r := range l.records() {
					assert.Equal(t, store.Completed, r.State)
				}
			})
		}
	}
}
