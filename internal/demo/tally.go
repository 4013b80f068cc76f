package demo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"go.temporal.io/sdk/activity"
	sdkinterceptor "go.temporal.io/sdk/interceptor"

	"github.com/effectonce/effectonce/activities"
)

// event is something that is counted.
type event string

const (
	asked event = "asked" // Temporal delivered a call of a tool to a worker
	body  event = "body"  // the code of a tool started to run
)

// tally counts what happens in worker processes, also in those that are killed: each event is a
// line, written at once and in one piece, of a file that all of them append to.
type tally struct{ file *os.File }

func openTally(path string) (tally, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return tally{}, fmt.Errorf("open the tally: %w", err)
	}
	return tally{file}, nil
}

// note counts one event if it is about a tool.
func (t tally) note(e event, trialName, activityName string) {
	if !slices.Contains(tools, activityName) {
		return
	}
	if _, err := fmt.Fprintf(t.file, "%s %s\n", e, trialName); err != nil {
		slog.Error("the demo's counts are wrong from here on", "error", err)
	}
}

// count returns how often an event of a trial is in the file at path.
func count(path string, e event, trialName string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read the tally: %w", err)
	}
	return strings.Count(string(text), fmt.Sprintf("%s %s\n", e, trialName)), nil
}

// bodies counts the bodies of one trial.
type bodies struct {
	tally tally
	trial string
}

var _ activities.BodyLog = bodies{}

func (b bodies) BodyStarted(activityName, _ string) { b.tally.note(body, b.trial, activityName) }

// asks counts the deliveries of one trial. It comes before effectonce, which answers some of them
// without running the body.
type asks struct {
	sdkinterceptor.WorkerInterceptorBase
	tally tally
	trial string
}

func (a *asks) InterceptActivity(
	_ context.Context, next sdkinterceptor.ActivityInboundInterceptor,
) sdkinterceptor.ActivityInboundInterceptor {
	in := &asksInbound{asks: a}
	in.Next = next
	return in
}

type asksInbound struct {
	sdkinterceptor.ActivityInboundInterceptorBase
	asks *asks
}

func (in *asksInbound) ExecuteActivity(ctx context.Context, call *sdkinterceptor.ExecuteActivityInput) (any, error) {
	in.asks.tally.note(asked, in.asks.trial, activity.GetInfo(ctx).ActivityType.Name)
	return in.Next.ExecuteActivity(ctx, call)
}
