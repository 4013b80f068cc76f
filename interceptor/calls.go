package interceptor

import (
	"encoding/hex"
	"slices"
	"strconv"

	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
	"github.com/effectonce/effectonce/key"
)

// calls numbers the equal calls of one run, so that the third of three equal
// reminders is a third action. It lives in the run's interceptor and changes only
// with the workflow's own progress: replays give the same numbers.
type calls map[string]*equalCalls

type equalCalls struct {
	next int
	free []int
	open []openCall
}

type openCall struct {
	number int
	future workflow.Future
}

// take returns the number of the next equal call, and a function to be given the
// call's future.
//
// A number whose call ended in an error is given again: a loop that retries by hand
// is a retry. Whether a call has ended is looked at here, not in a goroutine of its
// own: the workflow must not be able to make its next call first.
func (c calls) take(ctx workflow.Context, equal string) (number int, opened func(workflow.Future)) {
	e := c[equal]
	if e == nil {
		e = &equalCalls{next: 1}
		c[equal] = e
	}
	e.open = slices.DeleteFunc(e.open, func(o openCall) bool {
		if !o.future.IsReady() {
			return false
		}
		if o.future.Get(ctx, nil) != nil {
			e.free = append(e.free, o.number)
		}
		return true
	})
	if len(e.free) > 0 {
		slices.Sort(e.free)
		number, e.free = e.free[0], e.free[1:]
	} else {
		number = e.next
		e.next++
	}
	return number, func(f workflow.Future) { e.open = append(e.open, openCall{number, f}) }
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

// inputOf returns the canonical form of arguments as the workflow passed them.
func inputOf(args []any) ([]byte, error) {
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
