package demo

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/workflows"
)

// workerPart is a worker process: one Temporal worker for each of its trials.
type workerPart struct {
	Temporal string `json:"temporal"` // host:port
	Provider string `json:"provider"` // URL
	Store    string `json:"store"`    // URL
	Tally    string `json:"tally"`    // path
	Rows     string `json:"rows"`     // their IDs, such as "adefghi"
	With     bool   `json:"with"`     // with effectonce
	Crash    bool   `json:"crash"`    // die after the first effect
}

// taskQueue is where the worker of a trial listens.
func (t trial) taskQueue() string { return "demo-" + t.name() }

// run works until ctx ends.
func (p workerPart) run(ctx context.Context, ask AskFunc) error {
	count, err := openTally(p.Tally)
	if err != nil {
		return err
	}
	var records store.Store
	if p.With {
		opened, err := storeurl.Open(ctx, p.Store, storeurl.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = opened.Close() }()
		if records = opened.Store; p.Crash {
			records = crashingStore{records}
		}
	}
	company := provider.NewClient(p.Provider)
	var workers []sdkworker.Worker
	defer func() {
		var all sync.WaitGroup
		for _, w := range workers {
			all.Go(w.Stop)
		}
		all.Wait()
	}()
	for _, r := range rows {
		if !contains(p.Rows, r) {
			continue
		}
		w, err := p.worker(ctx, trial{row: r, with: p.With}, records, company, count, ask)
		if err != nil {
			return fmt.Errorf("worker of row %s: %w", r.id, err)
		}
		workers = append(workers, w)
	}
	<-ctx.Done()
	return nil
}

// worker starts the worker of one trial. The two trials of a row differ in the plugin and in nothing
// else: without it, activities find no key and send none.
func (p workerPart) worker(
	ctx context.Context, t trial, records store.Store, company *provider.Client, count tally, ask AskFunc,
) (sdkworker.Worker, error) {
	options := client.Options{HostPort: p.Temporal, Logger: log.NewStructuredLogger(slog.Default())}
	if t.with {
		plugin, err := t.row.plugin(records, company, ask)
		if err != nil {
			return nil, err
		}
		options.Plugins = []client.Plugin{plugin}
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, err
	}
	interceptors := []sdkinterceptor.WorkerInterceptor{&asks{tally: count, trial: t.name()}}
	if p.Crash && !t.with {
		interceptors = append(interceptors, &crashAfterBody{})
	}
	w := sdkworker.New(c, t.taskQueue(), sdkworker.Options{
		Interceptors:      interceptors,
		WorkerStopTimeout: 3 * time.Second,
		// A workflow waits this long for the worker that it was on before, which may be dead.
		StickyScheduleToStartTimeout: time.Second,
		// Many workers, little work each.
		MaxConcurrentWorkflowTaskPollers: 2,
		MaxConcurrentActivityTaskPollers: 2,
	})
	workflows.Register(w)
	w.RegisterActivity(&activities.Activities{Provider: company, Bodies: bodies{tally: count, trial: t.name()}})
	return w, w.Start()
}
