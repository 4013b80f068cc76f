package main

import (
	"context"
	"fmt"
	"time"

	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// seed fills a store with one record in each situation that an operator meets, and
// returns their keys by name.
func seed(ctx context.Context, s store.Store) (map[string]string, error) {
	keys := map[string]string{}
	for _, r := range seeds {
		k, err := key.Digest("seed", r.name)
		if err != nil {
			return nil, err
		}
		keys[r.name] = k.String()
		if err := r.plant(ctx, s, k); err != nil {
			return nil, fmt.Errorf("seed %s: %w", r.name, err)
		}
	}
	return keys, nil
}

type seedling struct {
	name                        string
	operation, tenant, workflow string
	lease, remaining, retention time.Duration
	report                      *store.Change // nil leaves it in flight
}

const short = time.Microsecond // over when the next call is made

var seeds = []seedling{
	{"UNKNOWN", "Refund", "acme", "wf-unknown", time.Minute, short, 0, &store.Change{Verb: store.MarkUnknown, Why: "connection reset"}},
	{"RECENT", "Refund", "acme", "wf-recent", time.Minute, time.Hour, 0, &store.Change{Verb: store.MarkUnknown}},
	{"LIVE", "SendEmail", "acme", "wf-live", time.Hour, time.Hour, 0, nil},
	{"OVERDUE", "SendEmail", "globex", "wf-overdue", short, short, 0, nil},
	{"PENDING", "Approve", "globex", "wf-pending", time.Minute, short, 0, &store.Change{Verb: store.Suspend, For: time.Hour}},
	{"COMPLETED", "Refund", "globex", "wf-completed", time.Minute, time.Minute, 0, &store.Change{Verb: store.Complete, Outcome: plain(`{"id":"re_1"}`)}},
	{"FAILED", "Refund", "globex", "wf\x1b[2J", time.Minute, time.Minute, 0, &store.Change{Verb: store.Fail, Outcome: &store.Outcome{Format: outcome.Failure, Data: []byte{1, 2}}}},
	{"FREE", "Refund", "globex", "wf-free", time.Minute, short, 0, &store.Change{Verb: store.Release}},
	{"STALE", "Refund", "globex", "wf-stale", time.Minute, time.Minute, short, &store.Change{Verb: store.Complete, Outcome: plain(`1`)}},
}

func plain(text string) *store.Outcome {
	return &store.Outcome{Format: outcome.Plain, Data: []byte(text)}
}

func (d seedling) plant(ctx context.Context, s store.Store, k key.Key) error {
	r, err := s.Claim(ctx, store.Request{
		Ref: store.Ref{Root: [16]byte{k[0]}, Key: k}, Token: store.NewToken(),
		Namespace: "default", ScopeKind: "tenant", ScopeID: d.tenant, Tenant: d.tenant,
		Operation: d.operation, WorkflowID: d.workflow, RunID: "run-1", Attempt: 1, Fingerprint: store.Digest{1},
		Lease: d.lease, Remaining: d.remaining, Retention: d.retention, Who: "worker-1",
	})
	if err != nil || d.report == nil {
		return err
	}
	change := *d.report
	change.Who = "worker-1"
	_, err = s.Report(ctx, r.Claim(), change)
	return err
}
