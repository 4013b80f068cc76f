package interceptor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
)

// registered is what the workers of a plugin have registered: activity type → the
// types of its arguments.
type registered struct {
	mu    sync.Mutex
	types map[string][]reflect.Type
	// aliases are the names under which a function was registered that has another
	// name of its own.
	aliases map[string][]string
}

func newRegistered() registered {
	return registered{types: map[string][]reflect.Type{}, aliases: map[string][]string{}}
}

var contextType = reflect.TypeFor[context.Context]()

// add notes an activity as the SDK registers it: a function, or a pointer to a
// struct whose exported methods are activities.
func (r *registered) add(a any, o activity.RegisterOptions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := reflect.TypeOf(a)
	switch {
	case t == nil:
	case t.Kind() == reflect.Func:
		full := runtime.FuncForPC(reflect.ValueOf(a).Pointer()).Name()
		own := strings.TrimSuffix(full[strings.LastIndex(full, ".")+1:], "-fm")
		name := cmp.Or(o.Name, own)
		if name != own {
			r.aliases[own] = append(r.aliases[own], name)
		}
		r.types[name] = arguments(t, 0)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		for i := range t.NumMethod() {
			m := t.Method(i)
			r.types[o.Name+m.Name] = arguments(m.Type, 1)
		}
	}
}

// arguments returns the types of a function's arguments behind skip, less a context.
func arguments(f reflect.Type, skip int) []reflect.Type {
	types := []reflect.Type{}
	for i := skip; i < f.NumIn(); i++ {
		if i == skip && f.In(i).Implements(contextType) {
			continue
		}
		types = append(types, f.In(i))
	}
	return types
}

// Unprotected returns the registered activity types that have no policy and are not
// listed as read-only, sorted: assert in a test that there are none. It is complete
// once the workers' activities are registered.
func (p *Plugin) Unprotected() []string {
	p.registered.mu.Lock()
	defer p.registered.mu.Unlock()
	var names []string
	for name := range p.registered.types {
		_, single := p.ic.opts.Policies[name]
		_, many := p.ic.opts.Multiplexers[name]
		if !single && !many && !slices.Contains(p.ic.opts.ReadOnly, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// StartWorker is called by the SDK. It refuses to start a worker whose policies do
// not fit the activities it has registered, and tells what a reader should know.
func (p *Plugin) StartWorker(
	ctx context.Context, o worker.PluginStartWorkerOptions, next func(context.Context, worker.PluginStartWorkerOptions) error,
) error {
	remarks, faults := p.inspect()
	if faults != nil {
		return faults
	}
	for _, remark := range remarks {
		p.logger().Warn("effectonce: " + remark)
	}
	if names := p.Unprotected(); len(names) > 0 {
		p.logger().Warn("effectonce: activities without a policy", "activity_types", names, "unlisted", string(p.ic.opts.Unlisted))
	}
	return next(ctx, o)
}

// mistaken returns an error for each function whose calls the SDK runs as another type:
// it resolves what is called, even by name, through the name of the function, so that a
// function that is registered twice runs under the name it got last, and under that
// one's policy.
func (p *Plugin) mistaken() (faults []error) {
	for _, own := range slices.Sorted(maps.Keys(p.registered.aliases)) {
		names := p.registered.aliases[own]
		if _, ok := p.registered.types[own]; ok {
			names = append([]string{own}, names...)
		}
		if len(names) < 2 || !slices.ContainsFunc(names, func(name string) bool { _, ok := p.ic.opts.Policies[name]; return ok }) {
			continue
		}
		faults = append(faults, fmt.Errorf(
			"effectonce: the function %s is registered as %s: the SDK runs all of them as %q, under that policy. Register it once, or wrap it in functions of their own",
			own, strings.Join(names, " and "), names[len(names)-1]))
	}
	return faults
}

// inspect compares policies with the registered types.
func (p *Plugin) inspect() (remarks []string, faults error) {
	p.registered.mu.Lock()
	defer p.registered.mu.Unlock()
	all := p.mistaken()
	for _, name := range slices.Sorted(maps.Keys(p.ic.opts.Policies)) {
		policy := p.ic.opts.Policies[name]
		types, ok := p.registered.types[name]
		if !ok {
			remarks = append(remarks, fmt.Sprintf("there is a policy for %q, but this worker has no such activity", name))
			continue
		}
		types = payload.Types(types)
		for _, err := range policy.pointerFaults(types) {
			all = append(all, fmt.Errorf("effectonce: policy of %q: %w", name, err))
		}
		if policy.Scope == effectonce.Call || policy.Key != nil {
			continue
		}
		for i, t := range types {
			for _, f := range canon.Check(t) {
				switch f.Kind {
				case canon.FindingRefused, canon.FindingVolatile, canon.FindingFloat, canon.FindingTrusted:
					remarks = append(remarks, fmt.Sprintf("%s argument %d, %s: %s", name, i, strings.TrimSpace(f.Path+" "+f.Kind), f.Detail))
				}
			}
		}
	}
	return remarks, errors.Join(all...)
}
