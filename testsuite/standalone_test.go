package testsuite_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// Activities that a client starts, without a workflow. Only server 1.32.1 has them.

// starter starts the activity Charge through a client that has the plugin.
type starter struct {
	*lab
	client client.Client
}

func (l *lab) starter(options interceptor.Options) starter {
	l.t.Helper()
	plugin, err := interceptor.NewPlugin(l.store, options)
	require.NoError(l.t, err)
	return starter{lab: l, client: l.dial(client.Options{Plugins: []client.Plugin{plugin}})}
}

// start starts Charge; retries come every second.
func (s starter) start(ctx context.Context, id string, in order, change ...func(*client.StartActivityOptions)) client.ActivityHandle {
	s.t.Helper()
	options := client.StartActivityOptions{
		ID: id, TaskQueue: s.queue, StartToCloseTimeout: 3 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
	}
	for _, c := range change {
		c(&options)
	}
	handle, err := s.client.ExecuteActivity(ctx, options, "Charge", in)
	require.NoError(s.t, err)
	return handle
}

func attemptsOf(n int32) func(*client.StartActivityOptions) {
	return func(o *client.StartActivityOptions) { o.RetryPolicy.MaximumAttempts = n }
}

// ended waits for the end of an activity.
func (s starter) ended(handle client.ActivityHandle) (r provider.Receipt, err error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	err = handle.Get(ctx, &r)
	require.NoError(s.t, ctx.Err(), "the activity did not end")
	return r, err
}

func (s starter) await(handle client.ActivityHandle) provider.Receipt {
	s.t.Helper()
	r, err := s.ended(handle)
	require.NoError(s.t, err)
	return r
}

// lastFailure is the type of the last failure of an activity that is retried, and the
// number of the attempt that is under way or next.
func (s starter) lastFailure(handle client.ActivityHandle) (errType string, attempt int32) {
	s.t.Helper()
	d, err := handle.Describe(s.t.Context(), client.DescribeActivityOptions{IncludeLastFailure: true})
	require.NoError(s.t, err)
	return d.RawResponse.GetInfo().GetLastFailure().GetApplicationFailureInfo().GetType(), d.Attempt
}

// Without a workflow an action is known by the activity's ID, in every scope that
// needs a workflow: the same ID again is the same action, another ID another one.
func TestServer132_StandaloneActivityIsKnownByItsID(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Call, effectonce.Run, effectonce.Chain, effectonce.Workflow} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, on(memory.New(memory.Options{})))
			options := charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()})
			l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}})
			s := l.starter(options)
			in := order{ID: 1, Cents: 5}

			first := s.start(t.Context(), "pay-1", in)
			receipt := s.await(first)
			assert.Equal(t, "charge-1", receipt.ID)
			rec := l.record()
			assert.Equal(t, []any{store.Completed, "standalone", "pay-1", "Charge", "", ""},
				[]any{rec.State, rec.ScopeKind, rec.ScopeID, rec.Operation, rec.WorkflowID, rec.RunID})

			again := s.start(t.Context(), "pay-1", in) // the default lets an ID be used again
			assert.NotEqual(t, first.GetRunID(), again.GetRunID())
			assert.Equal(t, receipt, s.await(again))
			assert.Len(t, l.bodies(), 1)

			assert.Equal(t, "charge-2", s.await(s.start(t.Context(), "pay-2", in)).ID)
			assert.Len(t, l.effects(), 2)
		})
	}
}

func TestServer132_StandaloneActivityIsRetried(t *testing.T) {
	t.Parallel()
	in := order{ID: 1, Cents: 5}
	lost := provider.Behaviour{IgnoreKeys: true, Faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}}}
	begin := func(t *testing.T, b provider.Behaviour, unknown func(*lab) interceptor.Unknown) (starter, client.ActivityHandle) {
		l := newLab(t)
		l.behave(b)
		options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: unknown(l)})
		l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}})
		s := l.starter(options)
		return s, s.start(t.Context(), "pay", in)
	}

	t.Run("HoldWaitsForAPerson", func(t *testing.T) {
		t.Parallel()
		s, handle := begin(t, lost, func(*lab) interceptor.Unknown { return interceptor.Hold() })
		s.until("a third attempt of what is held", func() bool {
			errType, attempt := s.lastFailure(handle)
			return errType == effectonce.ErrTypeUnknown && attempt >= 3
		})
		s.resolve(`{"id":"charge-1"}`)
		assert.Equal(t, "charge-1", s.await(handle).ID)
		assert.Len(t, s.effects(), 1)
		assert.Len(t, s.bodies(), 1)
	})
	t.Run("ReconcileFindsTheEffect", func(t *testing.T) {
		t.Parallel()
		s, handle := begin(t, lost, func(l *lab) interceptor.Unknown { return interceptor.Reconcile(l.ask) })
		assert.Equal(t, "charge-1", s.await(handle).ID)
		assert.Len(t, s.effects(), 1)
		assert.Len(t, s.bodies(), 1)
	})
	t.Run("RerunSendsTheSameKey", func(t *testing.T) {
		t.Parallel()
		honoured := lost
		honoured.IgnoreKeys = false
		s, handle := begin(t, honoured, func(*lab) interceptor.Unknown { return interceptor.Rerun() })
		assert.Equal(t, "charge-1", s.await(handle).ID)
		require.Len(t, s.effects(), 1)
		key := s.effects()[0].Key
		assert.Equal(t, []string{key, key}, s.bodies())
	})
}

// A worker process is killed with SIGKILL; another worker goes on.
func TestServer132_StandaloneActivityWhoseWorkerIsKilled(t *testing.T) {
	t.Parallel()
	for name, fresh := range durable {
		for _, c := range []struct {
			policy string
			at     halt
			bodies int // of the second worker
		}{
			{"Hold", afterRecord, 0},
			{"Reconcile", beforeRecord, 0},
			{"Rerun", beforeRecord, 1},
			{"Reconcile", beforeEffect, 1},
		} {
			t.Run(name+"/"+c.policy+" "+string(c.at), func(t *testing.T) {
				t.Parallel()
				url := fresh(t)
				l := newLab(t, on(opened(t, url)))
				l.behave(provider.Behaviour{IgnoreKeys: c.policy != "Rerun"})
				options := crashing(l.desk, c.policy)
				s := l.starter(options)
				var handle client.ActivityHandle
				l.killed(plan{Store: url, Policy: c.policy, Halt: c.at}, func() {
					handle = s.start(t.Context(), "pay", order{ID: 1, Cents: 5})
				})
				l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}})
				assert.Equal(t, "charge-1", s.await(handle).ID)
				assert.Len(t, l.effects(), 1)
				assert.Len(t, l.bodies(), c.bodies)
				assert.Equal(t, store.Completed, l.record().State)
			})
		}
	}
}

// Two clients ask for the same activity while it runs, or after it was done and the
// server was told to refuse that.
func TestServer132_StandaloneActivityIsAskedForTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()})
	release := make(chan struct{})
	l.work(setup{options: options, activities: map[string]any{"Charge": l.slowly(false, release)}})
	s := l.starter(options)
	in := order{ID: 1, Cents: 5}
	first := s.start(t.Context(), "pay", in)
	l.until("it runs", func() bool { return len(l.bodies()) == 1 })
	second := s.start(t.Context(), "pay", in, func(o *client.StartActivityOptions) {
		o.ActivityIDConflictPolicy = enumspb.ACTIVITY_ID_CONFLICT_POLICY_USE_EXISTING
	})
	assert.Equal(t, first.GetRunID(), second.GetRunID())
	close(release)
	assert.Equal(t, s.await(first), s.await(second))
	_, err := s.client.ExecuteActivity(t.Context(), client.StartActivityOptions{
		ID: "pay", TaskQueue: l.queue, StartToCloseTimeout: time.Second,
		ActivityIDReusePolicy: enumspb.ACTIVITY_ID_REUSE_POLICY_REJECT_DUPLICATE,
	}, "Charge", in)
	var already *serviceerror.ActivityExecutionAlreadyStarted
	require.ErrorAs(t, err, &already)
	assert.Len(t, l.effects(), 1)
}

// Time is over while the body still runs: the next attempt waits for it.
func TestServer132_StandaloneActivityWhoseTimeIsOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()})
	options.Lease = 10 * time.Second // renewed until one lease after the deadline
	release := make(chan struct{})
	l.work(setup{options: options, activities: map[string]any{"Charge": l.slowly(true, release)}})
	s := l.starter(options)
	handle := s.start(t.Context(), "pay", order{ID: 1, Cents: 5})
	l.until("the second attempt", func() bool { _, attempt := s.lastFailure(handle); return attempt >= 2 })
	close(release)
	assert.Equal(t, "charge-1", s.await(handle).ID)
	assert.Len(t, l.effects(), 1)
	assert.Len(t, l.bodies(), 1)
}

// Another input under the same ID is another action, unless the key says otherwise.
func TestServer132_StandaloneActivityWithAnotherInput(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	options := charging(interceptor.Policy{
		Scope: effectonce.Run, Unknown: interceptor.Hold(),
		Key: func(context.Context, []any) (string, error) { return "the payment", nil },
	})
	l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}})
	s := l.starter(options)
	s.await(s.start(t.Context(), "pay", order{ID: 1, Cents: 5}))
	_, err := s.ended(s.start(t.Context(), "pay", order{ID: 1, Cents: 50}))
	app := application(t, err)
	assert.Equal(t, effectonce.ErrTypeMismatch, app.Type())
	assert.True(t, app.NonRetryable())
	assert.Len(t, l.effects(), 1)
}

// Business scopes hold across workflows and activities without one, in either order,
// and also where the codec seals payloads for one workflow.
func TestServer132_StandaloneActivityAndWorkflowAskForTheSame(t *testing.T) {
	t.Parallel()
	in := order{ID: 1, Cents: 5}
	for _, scope := range []effectonce.Scope{effectonce.Tenant, effectonce.Agent, effectonce.Namespace} {
		for name, standaloneFirst := range map[string]bool{"StandaloneFirst": true, "WorkflowFirst": false} {
			t.Run(string(scope)+"/"+name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, encoding(newSealing(true)))
				options := charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()})
				l.work(setup{
					options:    options,
					workflows:  map[string]any{"main": charge(20*time.Second, 1)},
					activities: map[string]any{"Charge": l.Charge},
				})
				s := l.starter(options)
				ctx := effectonce.StartWithAgent(effectonce.StartWithTenant(t.Context(), "acme"), "billing")
				alone := func(id string) provider.Receipt { return s.await(s.start(ctx, id, in)) }
				byWorkflow := func(id string) (r provider.Receipt) {
					run, err := s.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: l.queue}, "main", in)
					require.NoError(t, err)
					require.NoError(t, run.Get(t.Context(), &r))
					return r
				}
				ways := []func(string) provider.Receipt{byWorkflow, alone}
				if standaloneFirst {
					ways = []func(string) provider.Receipt{alone, byWorkflow}
				}
				receipt := ways[0]("one")
				assert.Equal(t, receipt, ways[1]("two"))
				assert.Equal(t, receipt, alone("three"))
				assert.Len(t, l.effects(), 1)
				assert.Equal(t, map[effectonce.Scope]string{effectonce.Tenant: "acme", effectonce.Agent: `["acme","billing"]`}[scope], l.record().ScopeID)

				if scope != effectonce.Namespace {
					s.await(s.start(effectonce.StartWithAgent(effectonce.StartWithTenant(t.Context(), "other"), "billing"), "four", in))
					assert.Len(t, l.effects(), 2, "another tenant's")
				}
			})
		}
	}
}

// A scope that needs what the client did not say runs nothing.
func TestServer132_StandaloneActivityWithoutATenant(t *testing.T) {
	t.Parallel()
	for _, scope := range []effectonce.Scope{effectonce.Tenant, effectonce.Agent} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			options := charging(interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()})
			l.work(setup{options: options, activities: map[string]any{"Charge": l.Charge}})
			s := l.starter(options)
			_, err := s.ended(s.start(t.Context(), "pay", order{ID: 1, Cents: 5}, attemptsOf(2)))
			app := application(t, err)
			assert.Equal(t, effectonce.ErrTypeScope, app.Type())
			assert.False(t, app.NonRetryable(), "a deploy may cure it")
			assert.Empty(t, l.bodies())
			assert.Empty(t, l.records())
		})
	}
}

// An outside system completes what it was handed, and only that: the same ID may have
// been used again for something else by then.
func TestServer132_StandaloneActivityIsCompletedByTheOutsideSystem(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	policy := interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}
	o := l.outside(charging(policy), nil)
	s := l.starter(charging(policy))
	first := s.start(t.Context(), "pay", order{ID: 1, Cents: 5}, attemptsOf(1))
	handle := o.job(t)
	l.handedOver()
	_, err := s.ended(first) // its time is over
	require.Error(t, err)
	second := s.start(t.Context(), "pay", order{ID: 2, Cents: 5}, func(o *client.StartActivityOptions) { o.StartToCloseTimeout = patience })
	other := o.job(t)
	l.until("both are pending", func() bool {
		r := l.records()
		return len(r) == 2 && r[0].State == store.Pending && r[1].State == store.Pending
	})

	require.NoError(t, o.completer.Complete(t.Context(), handle, provider.Receipt{ID: "first"}))
	for range 2 { // the outside system repeats itself
		require.NoError(t, o.completer.Complete(t.Context(), other, provider.Receipt{ID: "second"}))
	}
	assert.Equal(t, "second", s.await(second).ID)
	assert.Equal(t, "first", s.await(s.start(t.Context(), "pay", order{ID: 1, Cents: 5})).ID)
	assert.Empty(t, o.jobs)
}
