package interceptor

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

func TestNew_ReportsEveryFaultInOneError(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Options{
		ReadOnly: []string{"A"}, Unlisted: "ignore",
		Lease: time.Millisecond, Settle: -1, RecordTimeout: 1, MaxResultBytes: 1, AnyResultSize: true,
		Policies: map[string]Policy{
			"":  {Scope: effectonce.Run, Unknown: Hold()},
			"A": {},
			"B": {Scope: "galaxy", Unknown: Reconcile(nil)},
			"C": {Scope: effectonce.Call, Unknown: Rerun(), Ignore: []string{"/0/note"}, FailHeld: true},
			"D": {
				Scope: effectonce.Run, Unknown: Hold(), Identity: []string{"no slash"}, Lease: 1, Wait: -1, Retention: -1, HeldRetry: 1,
				Key: func(context.Context, []any) (string, error) { return "", nil },
			},
			"E": {Scope: effectonce.Run, Unknown: Hold(), KeepOutcome: true, ForgetAfterRetention: true},
			"F": {Scope: effectonce.Run, Unknown: Transactional(), FailHeld: true},
		},
	})
	require.Error(t, err)
	for _, part := range []string{
		"store is nil", `"A" is in ReadOnly and has a policy`, `Unlisted must be`, "DataConverter is missing", "without an activity type",
		`"A": Scope is missing`, `"A": Unknown is missing`,
		`"B": Scope "galaxy"`, "Reconcile needs a function",
		`"C": scope Call`, "FailHeld has no meaning",
		`"D": Key and Identity`, `"D": Identity: canon: `, `"D": Lease must be at least 1s, got 1ns`, "Wait must be at least 0s, got -1ns",
		"Retention must be at least 0s", "HeldRetry must be at least 1s",
		`"E": KeepOutcome excludes`, `"F": FailHeld has no meaning`,
		"Lease must be at least 1s, got 1ms", "Settle must be at least 0s", "RecordTimeout must be at least 1s", "MaxResultBytes and AnyResultSize",
	} {
		require.ErrorContains(t, err, part)
	}
}

func TestNew_RefusesToProtectNothing(t *testing.T) {
	t.Parallel()
	_, err := NewPlugin(memory.New(memory.Options{}), Options{})
	require.ErrorContains(t, err, "Policies is empty")
}

func TestNew_RefusesTransactionalWhereTheStoreCannot(t *testing.T) {
	t.Parallel()
	o := Options{
		DataConverter: converter.GetDefaultDataConverter(),
		Policies: map[string]Policy{
			"A": {Scope: effectonce.Run, Unknown: Transactional()},
			"B": {Scope: effectonce.Run, Unknown: Hold(), SubEffects: map[string]Unknown{"post": Transactional()}},
			"C": {Scope: effectonce.Run, Unknown: Rerun()},
		},
		Multiplexers: map[string]Multiplexer{"M": {
			Tool:     func(args []any) (string, []any, error) { return "tool", args, nil },
			Policies: map[string]Policy{"tool": {Scope: effectonce.Run, Unknown: Transactional()}},
		}},
	}
	_, err := New(memory.New(memory.Options{}), o)
	for _, part := range []string{`policy of "A"`, `policy of "B": SubEffects["post"]`, `multiplexer "M": tool "tool"`, "got a *memory.Store"} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), `"C"`)
	_, err = New(struct {
		*memory.Store
		store.Transactor
	}{}, o)
	require.NoError(t, err)
}

// TestDefaults_CoverEveryField fails when a field is added to Options or Policy and
// nobody thought about its default.
func TestDefaults_CoverEveryField(t *testing.T) {
	t.Parallel()
	o := Options{Policies: map[string]Policy{"A": {Scope: effectonce.Run, Unknown: Hold()}}}
	o.setDefaults()
	unset := func(v any) (names []string) {
		s := reflect.ValueOf(v)
		for i := range s.NumField() {
			if s.Type().Field(i).IsExported() && s.Field(i).IsZero() {
				names = append(names, s.Type().Field(i).Name)
			}
		}
		return names
	}
	require.Equal(t, []string{"ReadOnly", "Shadow", "OnDecision", "Namespace", "DataConverter", "AnyResultSize", "RequireHeader"}, unset(o))
	require.Equal(t, []string{
		"Key", "Identity", "Check", "Ignore", "Wait", "KeepOutcome", "ForgetAfterRetention", "FailHeld", "SubEffects", "NotAppliedTypes", "FinalTypes", "Veto",
	}, unset(o.Policies["A"]))
	require.Equal(t, "A", o.Policies["A"].Operation)
	require.Equal(t, 30*time.Second, o.Policies["A"].Lease)
	require.Equal(t, 90*24*time.Hour, o.Policies["A"].Retention)
}

func TestPlugin_FindsTheClientsConvertersAndRegistersOnce(t *testing.T) {
	t.Parallel()
	p, err := NewPlugin(memory.New(memory.Options{}), Options{Policies: map[string]Policy{"A": {Scope: effectonce.Run, Unknown: Hold()}}})
	require.NoError(t, err)
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), converter.NewZlibCodec(converter.ZlibCodecOptions{}))
	newClient := func(dc converter.DataConverter) error {
		return p.NewClient(context.Background(), client.PluginNewClientOptions{ClientOptions: client.Options{DataConverter: dc}},
			func(context.Context, client.PluginNewClientOptions) error { return nil })
	}
	require.NoError(t, newClient(dc))
	require.Same(t, dc, p.ic.opts.DataConverter)
	require.NoError(t, newClient(dc), "NewClientFromExisting calls it again")
	require.ErrorContains(t, newClient(nil), "one plugin per client")

	var o worker.Options
	for range 2 {
		require.NoError(t, p.ConfigureWorker(context.Background(), worker.PluginConfigureWorkerOptions{WorkerOptions: &o}))
	}
	require.Len(t, o.Interceptors, 1)
}
