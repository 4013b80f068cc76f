package interceptor

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
	"github.com/effectonce/effectonce/key"
)

// calls numbers the equal calls of one run, so that the third of three equal
// reminders is a third action. It lives in the run's interceptor and changes only
// with the workflow's own progress: replays give the same numbers.
type calls struct {
	numbers map[string]*numbers
	open    []openCall
	again   func(error) bool // whether a number is given again after this error
}

// numbers are those of equal calls.
type numbers struct {
	next int
	free []int
}

type openCall struct {
	of     *numbers
	number int
	future workflow.Future
}

func newCalls(again func(error) bool) calls {
	return calls{numbers: map[string]*numbers{}, again: again}
}

// take returns the number of the next equal call, and a function to be given the
// call's future.
//
// A number whose call ended in an error is given again: a loop that retries by hand
// is a retry. Whether a call has ended is looked at here, not in a goroutine of its
// own: the workflow must not be able to make its next call first. All open calls are
// looked at, because a future that is kept keeps its result.
func (c *calls) take(ctx workflow.Context, equal string) (number int, opened func(workflow.Future)) {
	c.open = slices.DeleteFunc(c.open, func(o openCall) bool {
		if !o.future.IsReady() {
			return false
		}
		if err := o.future.Get(ctx, nil); err != nil && c.again(err) {
			o.of.free = append(o.of.free, o.number)
		}
		return true
	})
	n := c.numbers[equal]
	if n == nil {
		n = &numbers{next: 1}
		c.numbers[equal] = n
	}
	if len(n.free) > 0 {
		slices.Sort(n.free)
		number, n.free = n.free[0], n.free[1:]
	} else {
		number = n.next
		n.next++
	}
	return number, func(f workflow.Future) { c.open = append(c.open, openCall{n, number, f}) }
}

// afterAnyError is for activities.
func afterAnyError(error) bool { return true }

// afterNoStart is for child workflows: only one that never came to be is no child.
func afterNoStart(err error) bool {
	var started *temporal.ChildWorkflowExecutionAlreadyStartedError
	var inTests *serviceerror.WorkflowExecutionAlreadyStarted // what the test environment says
	return errors.As(err, &started) || errors.As(err, &inTests)
}

// equality returns a text that two calls of one run share iff they are equal, or
// false if the arguments cannot be canonicalised.
func equality(root, activityType string, args []any, h header) (string, bool) {
	input, err := inputOf(args)
	if err != nil {
		return "", false
	}
	d, err := key.Digest("effectonce/equal", root, activityType, string(input), h.Tenant, h.Agent, h.Intent)
	if err != nil {
		return "", false
	}
	return hex.EncodeToString(d[:]), true
}

// inputOf returns the canonical form of arguments as the workflow passed them. A method
// of theirs that panics must not fail the workflow: with another converter, or in a local
// activity, nobody else would have called it.
func inputOf(args []any) (form []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a method of an argument panicked: %v", p)
		}
	}()
	values, err := payload.Args(args)
	if err != nil {
		return nil, err
	}
	return canon.Value(nil, values)
}

// callToken names the number-th of some equal calls.
func callToken(equal string, number int) (string, error) {
	d, err := key.Digest("effectonce/call", equal, strconv.Itoa(number))
	return hex.EncodeToString(d[:]), err
}
