package interceptor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce/internal/outlive"
	"github.com/effectonce/effectonce/store"
)

// Options configure [New] and [NewPlugin]. Policies is required.
type Options struct {
	// Policies says what exactly-once means, by activity type. Required, unless there
	// are Multiplexers or Unlisted is Guard.
	Policies map[string]Policy

	// Multiplexers are activity types through which many tools are called.
	Multiplexers map[string]Multiplexer
	// ReadOnly lists activity types that need no policy, because they have no effect.
	ReadOnly []string
	// Unlisted says what happens to all others. Default [PassThrough].
	Unlisted Unlisted

	// Shadow only watches: every body runs as without effectonce, and what would have
	// been decided is recorded under keys of its own, counted and told to OnDecision.
	// For trying out policies before enforcing them.
	Shadow bool

	// OnDecision is called with every decision, inside the attempt. It must not
	// block for long, and must be safe for concurrent use.
	OnDecision func(context.Context, Decision)

	// Namespace is the namespace in keys. Default: Temporal's. Set it where several
	// Temporal namespaces share their actions, or before moving to another one.
	Namespace string

	// DataConverter encodes results as the worker does. [NewPlugin] finds it by
	// itself; [New] requires it.
	DataConverter converter.DataConverter
	// FailureConverter encodes final failures. Default: found by [NewPlugin], else
	// the SDK's default.
	FailureConverter converter.FailureConverter

	// Lease is how long claims last without renewal. Default 30s; at least 1s.
	Lease time.Duration
	// Settle is how long after an attempt's deadline its request may still arrive at
	// the receiver. Nobody is believed that an effect did not happen before that.
	// Default 30s.
	Settle time.Duration
	// RecordTimeout is how long an attempt tries to record what its body did, also
	// after its own deadline or cancellation. Default 10s.
	RecordTimeout time.Duration
	// MaxResultBytes is the largest result to hand out. A larger one is recorded,
	// and the activity fails with ErrTypeResultLost: Temporal would refuse it and run
	// the activity again. Default 2 MiB, Temporal's own limit.
	MaxResultBytes int
	// AnyResultSize lifts that limit: for external storage.
	AnyResultSize bool
	// RequireHeader refuses activities that were scheduled by a worker without the
	// interceptor, instead of giving them a key bound to the scheduled activity,
	// which holds for retries but not for resets.
	RequireHeader bool

	// Worker is the name under which this process appears in the history of
	// records. Default: process ID and host name.
	Worker string
}

// New returns an interceptor to be set as a worker's or client's Interceptors. It
// returns one error with all faults of the options. [NewPlugin] is simpler. A test that
// uses testing/synctest makes one in each bubble.
func New(s store.Store, o Options) (*Interceptor, error) {
	if o.DataConverter == nil {
		return nil, errors.Join(o.faults(s), errors.New(
			"effectonce: DataConverter is missing: pass the client's (converter.GetDefaultDataConverter() if it has none), or use NewPlugin"))
	}
	return newInterceptor(s, o)
}

func newInterceptor(s store.Store, o Options) (*Interceptor, error) {
	if err := o.faults(s); err != nil {
		return nil, err
	}
	o.setDefaults()
	policies := make(map[string]*Policy, len(o.Policies))
	for activityType, p := range o.Policies {
		policies[activityType] = &p
	}
	return &Interceptor{store: s, opts: o, policies: policies, renewals: newRenewals(s), reports: outlive.New(o.RecordTimeout)}, nil
}

// faults returns everything that is wrong, in one error.
func (o Options) faults(s store.Store) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("effectonce: "+format, args...))
	}
	if s == nil {
		fault("the store is nil")
	}
	if _, able := s.(store.Transactor); s != nil && !able {
		for _, where := range o.transactional() {
			fault("%s: Transactional needs a store with CommitTx, such as those of store/postgres and store/sqlite, got a %T", where, s)
		}
	}
	if len(o.Policies)+len(o.Multiplexers) == 0 && o.Unlisted != Guard {
		fault("Policies is empty: no activity would be protected")
	}
	for _, activityType := range slices.Sorted(maps.Keys(o.Policies)) {
		if activityType == "" {
			fault("Policies has an entry without an activity type")
		}
		for _, err := range o.Policies[activityType].faults() {
			fault("policy of %q: %w", activityType, err)
		}
	}
	for _, activityType := range slices.Sorted(maps.Keys(o.Multiplexers)) {
		for _, err := range o.Multiplexers[activityType].faults() {
			fault("multiplexer %q: %w", activityType, err)
		}
		if _, both := o.Policies[activityType]; both {
			fault("%q has a policy and is a multiplexer: it cannot be both", activityType)
		}
	}
	for _, name := range o.ReadOnly {
		_, single := o.Policies[name]
		_, many := o.Multiplexers[name]
		if single || many {
			fault("%q is in ReadOnly and has a policy: it cannot be both", name)
		}
	}
	if !o.Unlisted.valid() {
		fault("Unlisted must be PassThrough, Guard or Refuse, got %q", o.Unlisted)
	}
	atLeast(fault, "Lease", o.Lease, time.Second)
	atLeast(fault, "Settle", o.Settle, 0)
	atLeast(fault, "RecordTimeout", o.RecordTimeout, time.Second)
	if o.MaxResultBytes < 0 {
		fault("MaxResultBytes must not be negative, got %d", o.MaxResultBytes)
	}
	if o.MaxResultBytes > 0 && o.AnyResultSize {
		fault("MaxResultBytes and AnyResultSize exclude each other")
	}
	return errors.Join(faults...)
}

func (o *Options) setDefaults() {
	if o.FailureConverter == nil {
		o.FailureConverter = temporal.GetDefaultFailureConverter()
	}
	if o.Unlisted == "" {
		o.Unlisted = PassThrough
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Settle == 0 {
		o.Settle = 30 * time.Second
	}
	if o.RecordTimeout == 0 {
		o.RecordTimeout = 10 * time.Second
	}
	if o.MaxResultBytes == 0 {
		o.MaxResultBytes = 2 << 20
	}
	if o.Worker == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown-host"
		}
		o.Worker = fmt.Sprintf("%d@%s", os.Getpid(), host)
	}
	policies := make(map[string]Policy, len(o.Policies))
	for activityType, p := range o.Policies {
		p.setDefaults(activityType, activityType, *o)
		policies[activityType] = p
	}
	o.Policies = policies
	multiplexers := make(map[string]Multiplexer, len(o.Multiplexers))
	for activityType, m := range o.Multiplexers {
		tools := make(map[string]Policy, len(m.Policies))
		for tool, p := range m.Policies {
			p.setDefaults(activityType, tool, *o)
			tools[tool] = p
		}
		m.Policies = tools
		if m.Unlisted == "" {
			m.Unlisted = o.Unlisted
		}
		multiplexers[activityType] = m
	}
	o.Multiplexers = multiplexers
}
