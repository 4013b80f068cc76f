package interceptor

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/store"
)

// failure describes an error that we hand to Temporal.
type failure struct {
	errType string
	final   bool // non-retryable
	retry   time.Duration
	cause   error
	benign  bool // expected in operation: no error log, no failure metric
}

func (c *call) fail(f failure, format string, args ...any) error {
	category := temporal.ApplicationErrorCategoryUnspecified
	if f.benign {
		category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("%s %s: ", c.policy.Operation, c.request.Key)+fmt.Sprintf(format, args...), f.errType,
		temporal.ApplicationErrorOptions{
			NonRetryable: f.final, NextRetryDelay: c.fit(f.retry), Cause: f.cause, Category: category,
			Details: []any{c.request.Key.String()},
		})
}

// fit keeps a delay within the budget: Temporal fails an activity at once if the
// next attempt would come after ScheduleToClose.
func (c *call) fit(delay time.Duration) time.Duration {
	if delay <= 0 || c.info.ScheduleToCloseTimeout <= 0 {
		return max(delay, 0)
	}
	left := time.Until(c.info.ScheduledTime.Add(c.info.ScheduleToCloseTimeout))
	return min(delay, max(left/2, 0))
}

// errUnknown says that nobody knows. cause is the body's error, if it has just been
// seen; retry is when to look again.
func (c *call) errUnknown(rec store.Record, cause error, retry time.Duration, what string) error {
	return c.fail(failure{
		errType: effectonce.ErrTypeUnknown, retry: retry, cause: cause,
		// A local activity that is held would fill the history; one that may rerun goes on.
		final: c.policy.FailHeld || c.info.IsLocalActivity && !c.policy.Unknown.kind.goesOn(),
	}, "outcome unknown: %s (claimed by %s run %s attempt %d). Find out whether the effect happened and resolve the key",
		what, rec.WorkflowID, rec.RunID, rec.Attempt)
}

func (c *call) errInFlight(rec store.Record, why string) error {
	retry := max(time.Second, rec.Lease.Sub(rec.Now))
	return c.fail(failure{
		errType: effectonce.ErrTypeInFlight, final: c.info.IsLocalActivity, retry: min(retry, c.policy.HeldRetry), benign: true,
	}, "%s (%s run %s attempt %d)", why, rec.WorkflowID, rec.RunID, rec.Attempt)
}

func (c *call) errMismatch(rec store.Record) error {
	paths := "the field digests are not readable"
	if differ, err := differing(rec.Fields, c.request.Fields); err == nil {
		paths = "differs in " + strings.Join(differ, ", ")
	}
	return c.fail(failure{errType: effectonce.ErrTypeMismatch, final: true},
		"this key was used before with another input: %s. Nothing was run. Use another key for another request", paths)
}

func (c *call) errExpired(rec store.Record) error {
	return c.fail(failure{errType: effectonce.ErrTypeOutcomeExpired, final: true},
		"already executed on %s, outcome no longer kept. Nothing was run; allow a rerun of the key if it is meant to happen again",
		rec.Finished.UTC().Format(time.RFC3339))
}

func (c *call) errStore(what string, err error) error {
	return c.fail(failure{errType: effectonce.ErrTypeStore, cause: err},
		"%s: %v. The body was not run; Temporal tries again", what, err)
}

func (c *call) errRecord(err error) error {
	return c.fail(failure{errType: effectonce.ErrTypeRecord, cause: err},
		"there is a record, but it cannot be read: %v. Nothing was run", err)
}

// errRefused is for calls that have no key. final says that no deploy can cure it.
func errRefused(activityType, errType string, final bool, format string, args ...any) error {
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("%s: no key: ", activityType)+fmt.Sprintf(format, args...)+". The body was not run", errType,
		temporal.ApplicationErrorOptions{NonRetryable: final})
}
