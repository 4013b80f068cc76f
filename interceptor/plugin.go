package interceptor

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce/store"
)

type (
	clientPluginBase = client.PluginBase //nolint:unused // embedded below
	workerPluginBase = worker.PluginBase
)

// Plugin registers the interceptor on every worker of a client, and finds the
// client's converters by itself. Use one plugin per client.
type Plugin struct {
	clientPluginBase //nolint:unused // the SDK demands it
	workerPluginBase
	ic       *Interceptor
	explicit bool // the options named a DataConverter
	captured bool
	log      sdklog.Logger // the client's

	registered registered
}

var (
	_ client.Plugin = (*Plugin)(nil)
	_ worker.Plugin = (*Plugin)(nil)
)

// NewPlugin returns a plugin for client.Options.Plugins. It may also be put into
// worker.Options.Plugins alone; it then knows no client, and the options must name
// the DataConverter if it is not the default. All faults of the options come in one
// error.
func NewPlugin(s store.Store, o Options) (*Plugin, error) {
	explicit := o.DataConverter != nil
	if !explicit {
		o.DataConverter = converter.GetDefaultDataConverter()
	}
	ic, err := newInterceptor(s, o)
	if err != nil {
		return nil, err
	}
	return &Plugin{ic: ic, explicit: explicit, registered: newRegistered()}, nil
}

// Name names the plugin to the SDK.
func (p *Plugin) Name() string { return "effectonce" }

// ConfigureClient is called by the SDK. The client side is a type of its own: the SDK
// would put an interceptor that is both onto the workers, too, as the outermost one.
func (p *Plugin) ConfigureClient(_ context.Context, o client.PluginConfigureClientOptions) error {
	o.ClientOptions.Interceptors = append(o.ClientOptions.Interceptors, &clientSide{})
	return nil
}

// NewClient is called by the SDK with the client's final options.
func (p *Plugin) NewClient(
	ctx context.Context, o client.PluginNewClientOptions,
	next func(context.Context, client.PluginNewClientOptions) error,
) error {
	p.log = o.ClientOptions.Logger
	if err := p.capture(o.ClientOptions.DataConverter, o.ClientOptions.FailureConverter); err != nil {
		return err
	}
	return next(ctx, o)
}

// capture keeps the converters of the client. The SDK uses the default failure
// converter, not the configured data converter, where none is given; so do we, or
// recorded failures would differ from those of other activities.
func (p *Plugin) capture(dc converter.DataConverter, fc converter.FailureConverter) error {
	if p.explicit {
		return nil
	}
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	if fc == nil {
		fc = temporal.GetDefaultFailureConverter()
	}
	if p.captured && !(same(dc, p.ic.opts.DataConverter) && same(fc, p.ic.opts.FailureConverter)) {
		return errors.New("effectonce: this plugin already belongs to a client with another DataConverter or FailureConverter: make one plugin per client")
	}
	p.ic.opts.DataConverter, p.ic.opts.FailureConverter, p.captured = dc, fc, true
	return nil
}

// same compares converters, whose types need not be comparable.
func same(a, b any) bool {
	ta, tb := reflect.TypeOf(a), reflect.TypeOf(b)
	return ta == tb && (ta.Comparable() && a == b || !ta.Comparable() && reflect.DeepEqual(a, b))
}

// ConfigureWorker is called by the SDK for each worker of the client. The
// interceptor goes last, so that tracing and metrics see what it decides.
func (p *Plugin) ConfigureWorker(_ context.Context, o worker.PluginConfigureWorkerOptions) error {
	if callbacks := o.WorkerRegistryOptions; callbacks != nil {
		before := callbacks.OnRegisterActivity
		callbacks.OnRegisterActivity = func(a any, options activity.RegisterOptions) {
			p.registered.add(a, options)
			if before != nil {
				before(a, options)
			}
		}
	}
	if !slices.ContainsFunc(o.WorkerOptions.Interceptors, func(i sdkinterceptor.WorkerInterceptor) bool { return i == p.ic }) {
		o.WorkerOptions.Interceptors = append(o.WorkerOptions.Interceptors, p.ic)
	}
	return nil
}

// StopWorker is called by the SDK. It waits for what shadows still write.
func (p *Plugin) StopWorker(
	ctx context.Context, o worker.PluginStopWorkerOptions, next func(context.Context, worker.PluginStopWorkerOptions),
) {
	next(ctx, o)
	p.ic.shadows.Wait()
}

// logger returns the client's logger. Without a client there is none but the
// process's own.
func (p *Plugin) logger() sdklog.Logger {
	if p.log != nil {
		return p.log
	}
	return sdklog.NewStructuredLogger(slog.Default())
}

// ConfigureWorkflowReplayer is called by the SDK. Replays need nothing from us.
func (p *Plugin) ConfigureWorkflowReplayer(context.Context, worker.PluginConfigureWorkflowReplayerOptions) error {
	return nil
}
