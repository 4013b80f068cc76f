package main

import (
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/process"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/workflows"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	port, err := process.FreePort()
	require.NoError(t, err)
	nobody := "127.0.0.1:" + strconv.Itoa(port)
	const company = "--provider=http://127.0.0.1:1"

	for name, test := range map[string]struct {
		env, args []string
		want      []string
	}{
		"NothingIsConfigured": {
			want: []string{"no store", "EFFECTONCE_STORE", "sqlite:effects.db", "postgres://", "memory:", "no provider", "EFFECTONCE_PROVIDER"},
		},
		"StoreOfUnknownKind": {
			args: []string{"--store=mysql://bob:geheim@db/x", company},
			want: []string{"unknown kind of store", "sqlite:effects.db", "postgres://USER:PASSWORD@HOST/DATABASE", "memory:"},
		},
		"StoreOfUnknownKindInTheEnvironment": {
			env:  []string{"EFFECTONCE_STORE=mysql://:geheim@db", "EFFECTONCE_PROVIDER=http://127.0.0.1:1"},
			args: []string{"run"},
			want: []string{"unknown kind of store"},
		},
		"StoreIsUnreachable": {
			args: []string{"--store=postgres://bob:geheim@" + nobody + "/effects", company},
			want: []string{"open the store", nobody},
		},
		"StoreIsInAFolderThatIsMissing": {
			args: []string{"--store=sqlite:/no/such/folder/effects.db", company},
			want: []string{"open the store", "/no/such/folder/effects.db"},
		},
		"ProviderIsNoURL": {
			args: []string{"--store=memory:", "--provider=localhost:8080"},
			want: []string{`provider "localhost:8080" is not an http URL`, "http://127.0.0.1:8080"},
		},
		"TaskQueueIsEmpty": {
			args: []string{"--store=memory:", company, "--task-queue="},
			want: []string{"task queue is empty"},
		},
		"TemporalIsUnreachable": {
			env:  []string{"TEMPORAL_ADDRESS=" + nobody},
			args: []string{"--store=memory:", company},
			want: []string{"connect to Temporal at " + nobody, "TEMPORAL_ADDRESS"},
		},
		"TemporalProfileIsMissing": {
			env:  []string{"TEMPORAL_PROFILE=nowhere"},
			args: []string{"--store=memory:", company},
			want: []string{"configuration of the Temporal client", "nowhere"},
		},
		"CommandIsUnknown": {
			args: []string{"walk"},
			want: []string{`unknown command "walk"`},
		},
		"DemoRowIsUnknown": {
			args: []string{"demo", "--only=a,z"},
			want: []string{`no row "z"`, "a to i"},
		},
		"DemoPartIsForTheDemo": {
			args: []string{"demo", "part", "x"},
			want: []string{"for the demo's own use"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, test.env, test.args...)
			assert.Equal(t, 1, p.end(t, 30*time.Second), "exit code")
			for _, text := range test.want {
				assert.Contains(t, p.err.String(), text)
			}
			assert.NotContains(t, p.err.String(), "geheim")
			assert.Empty(t, p.out.String())
		})
	}

	t.Run("NamespaceIsMissing", func(t *testing.T) {
		t.Parallel()
		address, _ := services.Temporal(t)
		p := start(t, []string{"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=nowhere"}, "--store=memory:", company)
		assert.Equal(t, 1, p.end(t, 30*time.Second), "exit code")
		assert.Contains(t, p.err.String(), `namespace "nowhere"`)
	})
}

func TestHelpDoesNotShowTheStoresPassword(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"EFFECTONCE_STORE=postgres://bob:geheim@db/x"}, "--help")
	assert.Equal(t, 0, p.end(t, 30*time.Second))
	assert.Contains(t, p.out.String(), "EFFECTONCE_STORE")
	assert.NotContains(t, p.out.String(), "geheim")
}

// TestPoliciesAreComplete fails if the table has a fault, or a tool has no policy.
func TestPoliciesAreComplete(t *testing.T) {
	t.Parallel()
	table := policies(provider.NewClient("http://127.0.0.1:1"))
	_, err := interceptor.NewPlugin(memory.New(memory.Options{}), interceptor.Options{Policies: table})
	require.NoError(t, err)
	for _, tool := range []string{"Refund", "SendEmail", "SendReminder", "CreateTicket"} {
		assert.Contains(t, table, tool)
	}
	assert.NotContains(t, table, "LookupOrder")
	assert.NotContains(t, table, "PlanStep")
}

// TestSIGTERM lets a worker start a slow refund, asks it to end, and expects it to finish the refund
// first: one attempt, one effect, and Temporal knows.
func TestSIGTERM(t *testing.T) {
	t.Parallel()
	address, namespace := services.Temporal(t)
	handler, err := provider.NewServer(provider.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	company := provider.NewClient(server.URL)
	require.NoError(t, company.SetFaults(t.Context(), provider.Behaviour{Faults: []provider.Fault{{After: 2 * time.Second}}}))
	temporal, err := client.DialContext(t.Context(), client.Options{HostPort: address, Namespace: namespace})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)

	worker := start(t, []string{
		"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=" + namespace,
		"EFFECTONCE_STORE=sqlite:" + filepath.Join(t.TempDir(), "effects.db"), "EFFECTONCE_PROVIDER=" + server.URL,
	}, "run", "--task-queue=stop")
	run, err := temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "stop"}, workflows.SingleRefund,
		workflows.SingleRefundInput{Tenant: "bob", Refund: activities.RefundInput{OrderID: 1, AmountCents: 500}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stats, err := company.Stats(t.Context(), "")
		return err == nil && stats.Effects == 1
	}, time.Minute, 20*time.Millisecond, "the refund does not start: %s", &worker.err)

	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, worker.end(t, 15*time.Second), "exit code; log:\n%s", worker.err.String())

	history := temporal.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var completed []int32
	started := map[int64]int32{}
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		if a := event.GetActivityTaskStartedEventAttributes(); a != nil {
			started[event.GetEventId()] = a.GetAttempt()
		}
		if a := event.GetActivityTaskCompletedEventAttributes(); a != nil {
			completed = append(completed, started[a.GetStartedEventId()])
		}
	}
	assert.Equal(t, []int32{1}, completed, "attempts that completed the refund")
	stats, err := company.Stats(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, provider.Stats{Requests: 1, Effects: 1}, stats)
}
