package interceptor

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// scope is where a key belongs: its kind and ID, and where its record clusters.
type scope struct {
	kind, id string
	root     [16]byte
	header   header
}

// Kinds of scope that no policy names: what a call falls back to.
const (
	scopeScheduled  = "scheduled"  // the scheduled activity: no header was sent
	scopeStandalone = "standalone" // an activity that no workflow scheduled
)

// scopeOf returns the scope of one call under a policy. Its errors are ours to hand
// to Temporal.
func (ic *Interceptor) scopeOf(ctx context.Context, info *activity.Info, want effectonce.Scope) (scope, error) {
	name := info.ActivityType.Name
	refuse := func(errType string, format string, args ...any) (scope, error) {
		return scope{}, errRefused(name, errType, false, format, args...)
	}
	h, sent, err := readHeader(sdkinterceptor.Header(ctx))
	switch {
	case err != nil:
		return refuse(effectonce.ErrTypeHeader, "%v. Deploy this worker with the version that the scheduling worker has", err)
	case h.Unreadable != "":
		return refuse(effectonce.ErrTypeHeader, "the workflow could not read its own: %s. Deploy the workflow's worker with a newer version, then reset the workflow", h.Unreadable)
	case h.Invalid != "":
		return scope{}, errRefused(name, effectonce.ErrTypeInput, true, "%s", h.Invalid)
	}
	s := scope{kind: string(want), header: h}
	switch want {
	case effectonce.Namespace:
		return s, nil
	case effectonce.Tenant:
		if h.Tenant == "" {
			return refuse(effectonce.ErrTypeScope, "scope tenant needs a tenant: use effectonce.WithTenant in the workflow")
		}
		s.id = h.Tenant
		return s, nil
	case effectonce.Agent:
		if h.Agent == "" {
			return refuse(effectonce.ErrTypeScope, "scope agent needs an agent: use effectonce.WithAgent in the workflow")
		}
		id, err := canon.Value(nil, []any{h.Tenant, h.Agent})
		if err != nil {
			return scope{}, errRefused(name, effectonce.ErrTypeInput, true, "tenant or agent: %v", err)
		}
		s.id = string(id)
		return s, nil
	case effectonce.Workflow:
		switch {
		case info.WorkflowExecution.ID == "":
			return scope{kind: scopeStandalone, id: info.ActivityID, header: h}, nil
		case h.UnstableID:
			return refuse(effectonce.ErrTypeScope, "scope workflow in a child with a generated workflow ID: a reset of the parent changes it. Give the child an ID, or use scope run")
		}
		s.id = info.WorkflowExecution.ID
		return s, nil
	}
	switch {
	case info.WorkflowExecution.ID == "":
		return scope{kind: scopeStandalone, id: info.ActivityID, header: h}, nil
	case !sent && ic.opts.RequireHeader:
		return refuse(effectonce.ErrTypeHeader, "there is no header: the workflow's worker runs without the interceptor")
	case !sent:
		activity.GetMetricsHandler(ctx).Counter(metricWithoutHeader).Inc(1)
		activity.GetLogger(ctx).Warn("effectonce: no header: the key holds for retries of this scheduled activity, not for resets")
		d, err := scheduledAs(info)
		if err != nil {
			return scope{}, errRefused(name, effectonce.ErrTypeInput, true, "%v", err)
		}
		return scope{kind: scopeScheduled, id: hex.EncodeToString(d[:]), root: cluster(info.WorkflowExecution.RunID)}, nil
	case want == effectonce.Chain && h.Cron:
		return refuse(effectonce.ErrTypeScope, "scope chain in a cron workflow: every tick would be answered from the first one. Use scope run")
	case h.Root == "" || h.Chain == "":
		return refuse(effectonce.ErrTypeHeader, "the header names no root")
	case want == effectonce.Chain:
		s.id, s.root = h.Chain, cluster(h.Chain)
	default:
		s.id, s.root = h.Root, cluster(h.Root)
	}
	return s, nil
}

// derive returns the call that an attempt makes: its key, its fingerprint and the
// request for its claim. It must run before the body, which may change what its
// arguments point to.
func (ic *Interceptor) derive(ctx context.Context, info *activity.Info, is classified, in *sdkinterceptor.ExecuteActivityInput) (*call, error) {
	name, p := info.ActivityType.Name, is.policy
	s, err := ic.scopeOf(ctx, info, p.Scope)
	if err != nil {
		return nil, err
	}
	c := &call{ic: ic, info: *info, policy: p, in: in, args: is.args, deadline: deadline(ctx, info, p.Lease)}
	c.request = store.Request{
		Ref: store.Ref{Root: s.root}, Token: store.NewToken(),
		Namespace: ic.namespace(info), ScopeKind: s.kind, ScopeID: s.id, Tenant: s.header.Tenant,
		Operation: p.Operation, Intent: s.header.Intent,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID, Attempt: int(info.Attempt),
		Lease: p.Lease, Retention: p.Retention, Who: ic.opts.Worker,
	}
	if info.IsWorkflowActivity() && !info.IsLocalActivity {
		d, err := scheduledAs(info)
		if err != nil {
			return nil, errRefused(name, effectonce.ErrTypeInput, true, "%v", err)
		}
		c.request.Scheduled = store.Digest(d)
	}
	if s.kind == string(effectonce.Call) {
		return c, c.identifyCall(name, s.header)
	}
	return c, c.identify(ctx, name, s.header)
}

// identifyCall uses the token by which the workflow side numbered the call.
func (c *call) identifyCall(name string, h header) error {
	if h.ActionID != "" {
		return errRefused(name, effectonce.ErrTypeScope, false, "WithActionID does not go with scope call: use scope run or wider")
	}
	if h.Call == "" {
		return errRefused(name, effectonce.ErrTypeInput, true, "the workflow side could not canonicalise the arguments; scope call needs that")
	}
	k, err := key.OfCall(c.request.Namespace, h.Call)
	if err != nil {
		return errRefused(name, effectonce.ErrTypeInput, true, "%v", err)
	}
	// The token covers the arguments as the workflow passed them.
	c.request.Key, c.request.Fingerprint = k, store.Digest(k)
	return nil
}

// identify derives the key from the arguments, or from an explicit key.
func (c *call) identify(ctx context.Context, name string, h header) error {
	refuse := func(err error) error { return errRefused(name, effectonce.ErrTypeInput, true, "%v", err) }
	args, err := payload.Args(c.args)
	if err != nil {
		// What canon does not refuse, a worker with another codec or type may read.
		return errRefused(name, effectonce.ErrTypeInput, errors.Is(err, canon.ErrRefused), "%v", err)
	}
	split, err := c.policy.fields().Split(args)
	if err != nil {
		return refuse(err)
	}
	id := key.Identity{
		Namespace: c.request.Namespace, ScopeKind: c.request.ScopeKind, ScopeID: c.request.ScopeID,
		Operation: c.policy.Operation, Explicit: h.ActionID,
	}.Of(split)
	if c.policy.Scope == effectonce.Run || c.policy.Scope == effectonce.Chain {
		id.Intent = h.Intent
	}
	if id.Explicit == "" && c.policy.Key != nil {
		if id.Explicit, err = c.policy.Key(ctx, c.args); err != nil {
			// It may have asked somebody: unless it says that the input is bad, the
			// next attempt may have better luck.
			var app *temporal.ApplicationError
			final := errors.Is(err, canon.ErrRefused) || errors.As(err, &app) && app.NonRetryable()
			return errRefused(name, effectonce.ErrTypeInput, final, "the policy's Key function: %v", err)
		}
		if id.Explicit == "" {
			return refuse(fmt.Errorf("the policy's Key function returned an empty key"))
		}
	}
	if c.request.Key, err = id.Key(); err != nil {
		return refuse(err)
	}
	c.request.Fingerprint = sha256.Sum256(split.Fingerprint)
	c.request.Fields = encodeDigests(split.Digests)
	return nil
}

// scheduledAs names one scheduled activity: all its attempts, and nothing else. Its ID
// alone does not: a workflow may use an ID again once the activity has ended.
func scheduledAs(info *activity.Info) (key.Key, error) {
	at := "" // a local activity is scheduled anew when its workflow task is repeated
	if !info.IsLocalActivity {
		var room [len(time.RFC3339Nano)]byte
		at = string(info.ScheduledTime.UTC().AppendFormat(room[:0], time.RFC3339Nano))
	}
	return key.Digest("effectonce/scheduled",
		info.Namespace, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityID, at)
}

func (ic *Interceptor) namespace(info *activity.Info) string {
	if ic.opts.Namespace != "" {
		return ic.opts.Namespace
	}
	return info.Namespace
}

// deadline is when the attempt ends. Without one, a lease's length is assumed.
func deadline(ctx context.Context, info *activity.Info, lease time.Duration) time.Time {
	if d, ok := ctx.Deadline(); ok {
		return d
	}
	if !info.Deadline.IsZero() {
		return info.Deadline
	}
	return time.Now().Add(lease)
}

// encodeDigests is how field digests are kept beside the fingerprint, to name what
// differs: for each field the length of its path, the path, the digest.
func encodeDigests(list []canon.FieldDigest) []byte {
	size := 0
	for _, d := range list {
		size += binary.MaxVarintLen32 + len(d.Path) + len(d.Sum)
	}
	out := make([]byte, 0, size)
	for _, d := range list {
		out = binary.AppendUvarint(out, uint64(len(d.Path)))
		out = append(out, d.Path...)
		out = append(out, d.Sum[:]...)
	}
	return out
}

func decodeDigests(data []byte) (list []canon.FieldDigest, err error) {
	for len(data) > 0 {
		length, n := binary.Uvarint(data)
		var d canon.FieldDigest
		if n <= 0 || length > uint64(len(data)) || len(data) < n+int(length)+len(d.Sum) {
			return nil, errors.New("field digests are damaged")
		}
		d.Path = string(data[n : n+int(length)])
		data = data[n+int(length):]
		data = data[copy(d.Sum[:], data):]
		list = append(list, d)
	}
	return list, nil
}

// differing returns the paths in which two sets of field digests differ.
func differing(a, b []byte) ([]string, error) {
	before, err := decodeDigests(a)
	if err != nil {
		return nil, err
	}
	now, err := decodeDigests(b)
	if err != nil {
		return nil, err
	}
	return canon.Diff(before, now), nil
}
