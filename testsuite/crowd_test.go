package testsuite_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/store"
)

// The store is away for several leases while 200 bodies run, and still is when they
// return. No body is cut off, and every result counts, the first time.
func TestStoreOutageUnderManyRunningBodies(t *testing.T) { // not parallel: it needs the machine
	const workflows, bodies = 8, 200
	for name, fresh := range durable {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, on(opened(t, fresh(t))))
			var down atomic.Bool
			var faults []faulty.Fault
			var renewed atomic.Int64
			for _, m := range []faulty.Method{faulty.Claim, faulty.TakeOver, faulty.Renew, faulty.Report, faulty.Amend, faulty.Get} {
				faults = append(faults, faulty.Before(m, faulty.Fail(errDown)).If(func(c faulty.Call) bool {
					if c.Method == faulty.Renew && down.Load() {
						renewed.Add(1)
					}
					return down.Load()
				}))
			}
			options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()})
			options.RecordTimeout = patience
			var running, cut atomic.Int64
			release := make(chan struct{})
			l.work(setup{
				options: options, store: faulty.Wrap(l.store, faults...),
				worker: sdkworker.Options{MaxConcurrentActivityTaskPollers: 8, MaxConcurrentActivityExecutionSize: bodies},
				activities: map[string]any{"Charge": func(ctx context.Context, in order) (int64, error) {
					running.Add(1)
					select {
					case <-release:
						return in.ID, nil
					case <-ctx.Done():
						cut.Add(1)
						return 0, context.Cause(ctx)
					}
				}},
				workflows: map[string]any{"main": func(ctx workflow.Context, from int64) (found []int64, err error) {
					asked := make([]workflow.Future, bodies/workflows)
					for i := range asked {
						asked[i] = workflow.ExecuteActivity(calling(ctx, 2*patience, 1), "Charge", order{ID: from + int64(i)})
					}
					for _, f := range asked {
						var id int64
						if err := f.Get(ctx, &id); err != nil {
							return nil, err
						}
						found = append(found, id)
					}
					return found, nil
				}},
			})
			runs := make([]client.WorkflowRun, workflows)
			for i := range runs {
				runs[i] = l.start("main", i*bodies/workflows)
			}
			l.until("all run", func() bool { return running.Load() == bodies })
			down.Store(true)
			since := renewed.Load()
			outage := time.Now().Add(3 * options.Lease)
			l.until("the outage is longer than a lease", func() bool { return time.Now().After(outage) })
			assert.Greater(t, renewed.Load(), since+3, "renewals were tried")
			for _, r := range l.records() {
				assert.True(t, r.Uncertain(), "its lease is over")
			}
			close(release) // while the store is away
			outage = time.Now().Add(options.Lease)
			l.until("the bodies return to nobody", func() bool { return time.Now().After(outage) })
			down.Store(false)
			var all []int64
			for _, run := range runs {
				all = append(all, await[[]int64](l, run)...)
				for _, attempt := range attempts(l.history(run)) {
					assert.Equal(t, int32(1), attempt)
				}
			}
			slices.Sort(all)
			assert.Len(t, slices.Compact(all), bodies)
			assert.Zero(t, cut.Load(), "cut off")
			assert.Equal(t, int64(bodies), running.Load())
			records := l.records()
			assert.Len(t, records, bodies)
			for _, r := range records {
				assert.Equal(t, store.Completed, r.State)
				assert.Equal(t, int64(1), r.Fence)
			}
		})
	}
}
