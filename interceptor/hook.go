package interceptor

import (
	"context"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Decision is what an attempt did about its action. Options.OnDecision sees every one
// of them; metrics count them, and the activity's logger tells them.
type Decision struct {
	ActivityType string
	Operation    string
	Key          key.Key
	// Kind is one of: run, replay, wait, claim_again, take_over, ask, held,
	// give_way, drift, mismatch, outcome_expired, reopen.
	Kind string
	// Repeat: the record belongs to another call than this one: a model asked
	// again, another workflow did, or a reset executed the call anew.
	Repeat bool
	// Shadow: this is what would have been decided; the body ran anyway.
	Shadow bool

	State      store.State // of the record, as it was seen
	Generation int
	Fence      int64

	WorkflowID string
	RunID      string
	ActivityID string
	Attempt    int
}

// Metrics. The tags are activity_type and, for decisions, decision: both bounded.
const (
	metricDecisions     = "effectonce_decisions"        // counter
	metricShadow        = "effectonce_shadow_decisions" // counter: what would have been decided
	metricRepeats       = "effectonce_repeats"          // counter
	metricClaimLatency  = "effectonce_claim_latency"    // timer: the first claim of an attempt
	metricRecordLatency = "effectonce_record_latency"   // timer: recording what a body did
	metricWithoutHeader = "effectonce_without_header"   // counter
)

// count makes a decision visible.
func (c *call) count(ctx context.Context, kind decision, rec store.Record) {
	d := Decision{
		ActivityType: c.info.ActivityType.Name, Operation: c.policy.Operation, Key: c.request.Key, Kind: string(kind),
		Repeat: repeats(kind, rec, c.request), Shadow: c.shadowed,
		State: rec.State, Generation: rec.Generation, Fence: rec.Fence,
		WorkflowID: c.info.WorkflowExecution.ID, RunID: c.info.WorkflowExecution.RunID,
		ActivityID: c.info.ActivityID, Attempt: int(c.info.Attempt),
	}
	counter := metricDecisions
	if d.Shadow {
		counter = metricShadow
	}
	activity.GetMetricsHandler(ctx).WithTags(c.policy.tags[kind]).Counter(counter).Inc(1)
	if d.Repeat && !d.Shadow {
		activity.GetMetricsHandler(ctx).WithTags(c.policy.tags[noDecision]).Counter(metricRepeats).Inc(1)
	}
	c.tell(ctx, kind, d)
	if c.ic.opts.OnDecision != nil {
		c.hook(ctx, d)
	}
}

// said is what decisions are called in the log, in words to search for. That a body
// runs is the ordinary case, which Temporal logs.
var said = map[decision]string{
	replay:         "effectonce: answered from the record",
	wait:           "effectonce: waiting: another attempt is at work",
	claimAgain:     "effectonce: the action is free: claiming it",
	takeOver:       "effectonce: taking over an action whose outcome is unknown",
	ask:            "effectonce: outcome unknown: asking the outside system",
	held:           "effectonce: outcome unknown: held until somebody resolves it",
	giveWay:        "effectonce: this attempt lost its claim, and gives way",
	adopt:          "effectonce: drift: the key or fingerprint has changed between two attempts: going on with the first one's record",
	mismatch:       "effectonce: refused: the key was used with another input",
	outcomeExpired: "effectonce: refused: executed before, and the outcome is no longer kept",
	reopen:         "effectonce: the dedupe window is over: the action may run again",
}

// tell logs a decision.
func (c *call) tell(ctx context.Context, kind decision, d Decision) {
	if kind == run {
		return
	}
	logger := activity.GetLogger(ctx)
	say := logger.Debug
	switch kind {
	case adopt, mismatch, held, outcomeExpired, giveWay:
		say = logger.Warn
	case replay, takeOver, ask, reopen:
		say = logger.Info
	}
	text := said[kind]
	if d.Shadow {
		text = "effectonce: shadow" + strings.TrimPrefix(text, "effectonce")
	}
	say(text, "decision", d.Kind, "shadow", d.Shadow, "key", d.Key.String(), "repeat", d.Repeat, "state", string(d.State),
		"fence", d.Fence, "generation", d.Generation)
}

// metricTags returns the tags of an activity type's metrics, by decision.
func metricTags(activityType string) map[decision]map[string]string {
	tags := map[decision]map[string]string{noDecision: {"activity_type": activityType}}
	for _, d := range decisions {
		tags[d] = map[string]string{"activity_type": activityType, "decision": string(d)}
	}
	return tags
}

// hook calls OnDecision. One that panics must not end an attempt that has a claim.
func (c *call) hook(ctx context.Context, d Decision) {
	defer func() {
		if p := recover(); p != nil {
			activity.GetLogger(ctx).Error("effectonce: OnDecision panicked", "key", d.Key.String(), "decision", d.Kind, "panic", p)
		}
	}()
	c.ic.opts.OnDecision(ctx, d)
}

// repeats reports whether a call meets the record of another one.
func repeats(kind decision, rec store.Record, q store.Request) bool {
	if kind != replay && kind != wait {
		return false
	}
	if q.Scheduled != (store.Digest{}) || rec.Scheduled != (store.Digest{}) {
		return rec.Scheduled != q.Scheduled
	}
	return rec.WorkflowID != q.WorkflowID || rec.RunID != q.RunID
}

// timed reports how long something took.
func (c *call) timed(ctx context.Context, metric string, start time.Time) {
	activity.GetMetricsHandler(ctx).WithTags(c.policy.tags[noDecision]).Timer(metric).Record(time.Since(start))
}
