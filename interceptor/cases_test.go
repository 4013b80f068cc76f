package interceptor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// Reports of duplicate effects and lost work, as scenarios with the number of effects
// that they must end with. Those that need a Temporal server are in testsuite.

// acting registers f under a name, beside Charge.
func acting(name string, f any) func(*sdktest.TestWorkflowEnvironment) {
	return func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// policyOf adds the policy of one more activity.
func policyOf(name string, p interceptor.Policy) func(*interceptor.Options) {
	return func(o *interceptor.Options) {
		delete(o.Policies, "Charge")
		o.Policies[name] = p
	}
}

// decided returns a channel that is closed once n decisions of some kinds were made.
func decided(n int64, kinds ...string) (<-chan struct{}, func(*interceptor.Options)) {
	var made atomic.Int64
	all := make(chan struct{})
	return all, func(o *interceptor.Options) {
		o.OnDecision = func(_ context.Context, d interceptor.Decision) {
			if slices.Contains(kinds, d.Kind) && made.Add(1) == n {
				close(all)
			}
		}
	}
}

// oneByOne calls an activity once for each argument, and returns the errors.
func oneByOne(name string, inputs ...any) func(workflow.Context) ([]string, error) {
	return func(ctx workflow.Context) ([]string, error) {
		errs := make([]string, len(inputs))
		for i, in := range inputs {
			err := workflow.ExecuteActivity(attempts(ctx, 3), name, in).Get(ctx, nil)
			var app *temporal.ApplicationError
			if errors.As(err, &app) {
				errs[i] = app.Type()
			} else if err != nil {
				errs[i] = err.Error()
			}
		}
		return errs, nil
	}
}

func errorsOf(t *testing.T, env *sdktest.TestWorkflowEnvironment) (errs []string) {
	t.Helper()
	require.NoError(t, env.GetWorkflowError())
	require.NoError(t, env.GetWorkflowResult(&errs))
	return errs
}

func TestCases_ToolCallIDsAreNewEachTime(t *testing.T) {
	t.Parallel()
	type refund struct{ CallID, Order string }
	for name, c := range map[string]struct {
		identity []string
		effects  int
	}{"selected fields decide": {[]string{"/0/Order"}, 1}, "the whole input decides": {nil, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{}, nil, policyOf("Refund", interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Identity: c.identity}))
			env := w.run(oneByOne("Refund", refund{"c1", "7"}, refund{"c2", "7"}), acting("Refund", func(context.Context, refund) error { w.add(""); return nil }))
			require.Equal(t, []string{"", ""}, errorsOf(t, env))
			require.Equal(t, c.effects, w.runs())
		})
	}
}

func TestCases_OneModelMessageWithNineEqualToolCalls(t *testing.T) {
	t.Parallel()
	for scope, effects := range map[effectonce.Scope]int{effectonce.Call: 9, effectonce.Run: 1} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			atOnce, seen := decided(9, "run", "wait")
			w := newWorld(t, interceptor.Policy{Scope: scope, Unknown: interceptor.Hold()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
				<-atOnce // all nine have been asked for
				return succeed(ctx, run, in)
			}, seen)
			for range 2 { // the second time as after a reset
				env := w.run(func(ctx workflow.Context) (distinct int, err error) {
					var asked []workflow.Future
					for range 9 {
						asked = append(asked, workflow.ExecuteActivity(attempts(ctx, 1), "Charge", order7))
					}
					receipts := map[string]bool{}
					for _, f := range asked {
						var r receipt
						if err := f.Get(ctx, &r); err != nil {
							return 0, err
						}
						receipts[r.ID] = true
					}
					return len(receipts), nil
				})
				require.NoError(t, env.GetWorkflowError())
				var distinct int
				require.NoError(t, env.GetWorkflowResult(&distinct))
				require.Equal(t, effects, distinct)
				require.Equal(t, effects, w.runs())
			}
		})
	}
}

// A time that the workflow fixed is part of the input; nothing else adds one.
func TestCases_ATimestampTellsTwoIntentsApart(t *testing.T) {
	t.Parallel()
	type pay struct {
		To string
		At time.Time
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var runs atomic.Int32
	w := newWorld(t, interceptor.Policy{}, nil, policyOf("Pay", interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}))
	env := w.run(oneByOne("Pay", pay{"bob", at}, pay{"bob", at}, pay{"bob", at.In(time.FixedZone("", 3600))}, pay{"bob", at.Add(1)}),
		acting("Pay", func(ctx context.Context, _ pay) error {
			w.add(effectonce.Current(ctx).Key())
			if runs.Add(1) < 3 {
				return errDown // retried: the same intent
			}
			return nil
		}))
	require.Equal(t, []string{"", "", "", ""}, errorsOf(t, env))
	require.Equal(t, w.keys[0], w.keys[2])
	require.Len(t, w.records(), 2, "the same instant is the same, also in another zone")
}

func TestCases_ApprovedOnceAndTheAmountChangedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed)
	env := w.run(func(ctx workflow.Context) (errs []string, err error) {
		ctx = effectonce.WithActionID(ctx, "approval A1")
		dearer, reworded := order7, order7
		dearer.Cents, reworded.Note = 900, "other words"
		return oneByOne("Charge", order7, dearer, reworded)(ctx)
	})
	require.Equal(t, []string{"", effectonce.ErrTypeMismatch, ""}, errorsOf(t, env))
	require.Equal(t, 1, w.runs())
}

// The same while the first is still at work: the loser's request must not be sent.
func TestCases_OneActionIDWithTwoAmountsAtOnce(t *testing.T) {
	t.Parallel()
	refused, seen := decided(1, "mismatch")
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Rerun()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		<-refused // the other one has been asked for
		return succeed(ctx, run, in)
	}, seen)
	env := w.run(func(ctx workflow.Context) (refused int, err error) {
		ctx = effectonce.WithActionID(attempts(ctx, 1), "approval A1")
		dearer := order7
		dearer.Cents = 900
		for _, f := range []workflow.Future{workflow.ExecuteActivity(ctx, "Charge", order7), workflow.ExecuteActivity(ctx, "Charge", dearer)} {
			var app *temporal.ApplicationError
			if err := f.Get(ctx, nil); errors.As(err, &app) && app.Type() == effectonce.ErrTypeMismatch {
				refused++
			} else if err != nil {
				return refused, err
			}
		}
		return refused, nil
	})
	require.NoError(t, env.GetWorkflowError())
	var mismatches int
	require.NoError(t, env.GetWorkflowResult(&mismatches))
	require.Equal(t, 1, mismatches)
	require.Equal(t, 1, w.runs())
}

// A documented limit: other arguments are another action, unless an intent or an
// explicit key says otherwise.
func TestCases_AWholeAgentRetryWithOtherArguments(t *testing.T) {
	t.Parallel()
	rewritten := order7
	rewritten.Cents++
	for name, c := range map[string]struct {
		key     func(context.Context, []any) (string, error)
		errs    []string
		effects int
	}{
		"content decides":           {nil, []string{"", ""}, 2},
		"at most one in this scope": {func(context.Context, []any) (string, error) { return "the payment", nil }, []string{"", effectonce.ErrTypeMismatch}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Key: c.key}, succeed)
			require.Equal(t, c.errs, errorsOf(t, w.run(oneByOne("Charge", order7, rewritten))))
			require.Equal(t, c.effects, w.runs())
		})
	}
}

// The tenant is in the receiver of the activity, and nothing else says so.
func TestCases_WhatDecidesIsNotInTheArguments(t *testing.T) {
	t.Parallel()
	of := func(tenant string) func(context.Context, []any) (string, error) {
		return func(_ context.Context, args []any) (string, error) {
			return fmt.Sprint(tenant, "/", args[0].(chargeIn).Order), nil
		}
	}
	for name, c := range map[string]struct {
		keys    []func(context.Context, []any) (string, error)
		effects int
	}{
		"a Key function says it": {[]func(context.Context, []any) (string, error){of("a"), of("b")}, 2},
		"nobody says it":         {[]func(context.Context, []any) (string, error){nil, nil}, 1}, // documented
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total := 0
			first := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Key: c.keys[0]}, succeed)
			second := newWorldOn(t, first.store, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold(), Key: c.keys[1]}, succeed)
			for _, w := range []*world{first, second} {
				result(t, w.run(chargeOnce(order7, 1)))
				total += w.runs()
			}
			require.Equal(t, c.effects, total)
		})
	}
}

func TestCases_AWrongCodeDoesNotBlockTheRightOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{}, nil, policyOf("VerifyCode", interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), FinalTypes: []string{"WrongCode"}}))
	env := w.run(oneByOne("VerifyCode", "000", "123", "000"), acting("VerifyCode", func(_ context.Context, code string) error {
		w.add(code)
		if code != "123" {
			return temporal.NewNonRetryableApplicationError("wrong", "WrongCode", nil)
		}
		return nil
	}))
	require.Equal(t, []string{"WrongCode", "", "WrongCode"}, errorsOf(t, env))
	require.Equal(t, []string{"000", "123"}, w.keys)
}

// The struct gained a field between two attempts or two runs. While it is zero, the
// action is the same.
func TestCases_AStructGainsAField(t *testing.T) {
	t.Parallel()
	type v1 struct {
		OrderID string `json:"order_id"`
	}
	type v2 struct {
		OrderID  string `json:"order_id"`
		Currency string `json:"currency,omitempty"`
	}
	w := newWorld(t, interceptor.Policy{}, nil, policyOf("Pay", interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}))
	old := acting("Pay", func(context.Context, v1) error { w.add(""); return nil })
	deployed := acting("Pay", func(context.Context, v2) error { w.add(""); return nil })
	require.Equal(t, []string{""}, errorsOf(t, w.run(oneByOne("Pay", v1{"7"}), old)))
	require.Equal(t, []string{"", ""}, errorsOf(t, w.run(oneByOne("Pay", v1{"7"}, v2{"7", ""}), deployed)))
	require.Equal(t, 1, w.runs())
	require.Equal(t, []string{""}, errorsOf(t, w.run(oneByOne("Pay", v2{"7", "EUR"}), deployed)))
	require.Equal(t, 2, w.runs(), "another value is another action")
}

// Ten megabytes in a local activity, whose arguments are not limited: the record holds
// digests.
func TestCases_BigArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{}, nil, policyOf("Store", interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}))
	big := strings.Repeat("x", 10<<20)
	env := w.run(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		for range 2 {
			if err := workflow.ExecuteLocalActivity(ctx, "Store", big).Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}, acting("Store", func(context.Context, string) error { w.add(""); return nil }))
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, w.runs())
	text, err := json.Marshal(w.record())
	require.NoError(t, err)
	require.Less(t, len(text), 2<<10)
}

// What a body returns after its effect, and what comes of it within three attempts.
func TestCases_AnErrorAfterTheEffect(t *testing.T) {
	t.Parallel()
	done := receipt{"a", 500}
	plain := errors.New("the receipt could not be mailed")
	for name, c := range map[string]struct {
		unknown interceptor.Unknown
		err     error
		effects int
		want    string
	}{
		"plain/Rerun": {interceptor.Rerun(), plain, 3, "the receipt could not be mailed"}, // what a rerun at a deaf receiver means
		"plain/Hold":  {interceptor.Hold(), plain, 1, effectonce.ErrTypeUnknown},
		"plain/Reconcile": {interceptor.Reconcile(func(context.Context, interceptor.Question) (interceptor.Answer, error) {
			return interceptor.Applied(done), nil
		}), plain, 1, ""},
		"Unknown/Rerun": {interceptor.Rerun(), effectonce.Unknown(plain), 3, effectonce.ErrTypeUnknown},
		"Unknown/Hold":  {interceptor.Hold(), effectonce.Unknown(plain), 1, effectonce.ErrTypeUnknown},
		"Applied":       {interceptor.Rerun(), effectonce.Applied(done, plain), 1, ""},
		"NotApplied":    {interceptor.Hold(), effectonce.NotApplied(plain), 3, "the receipt could not be mailed"}, // a lie counts
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: c.unknown}, func(context.Context, int, chargeIn) (receipt, error) {
				return receipt{}, c.err
			})
			env := w.run(chargeOnce(order7, 3))
			require.Equal(t, c.effects, w.runs())
			if c.want == "" {
				require.Equal(t, done, result(t, env))
				return
			}
			app := failure(t, env)
			require.Contains(t, app.Type()+" "+app.Message(), c.want)
		})
	}
}

// Two attempts fail before the effect, the third succeeds: its receipt is the outcome.
func TestCases_FailuresAndThenASuccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unknown interceptor.Unknown
		mark    func(error) error
		keys    int
	}{
		"NotApplied": {interceptor.Hold(), effectonce.NotApplied, 3}, // each is a new request
		"plain":      {interceptor.Rerun(), func(err error) error { return err }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: c.unknown}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
				if run < 3 {
					return receipt{}, c.mark(errDown)
				}
				return succeed(ctx, run, in)
			})
			for range 2 { // the second time as after a reset
				require.Equal(t, receipt{"c", 500}, result(t, w.run(chargeOnce(order7, 3))))
			}
			require.Equal(t, 3, w.runs())
			keys := map[string]bool{}
			for _, k := range w.keys {
				keys[k] = true
			}
			require.Len(t, keys, c.keys)
			require.Len(t, w.records(), 1)
		})
	}
}

// The first caller fails after the second came: the second gets no success for it.
func TestCases_ADuplicateIsNotToldSuccessBeforeThereIsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
			if run == 1 {
				time.Sleep(200 * time.Millisecond)
				return receipt{}, effectonce.NotApplied(errDown)
			}
			return succeed(ctx, run, in)
		})
		first := make(chan error)
		go func() { _, err := w.attempt(order7); first <- err }()
		synctest.Wait() // the first is at work
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, receipt{"b", 500}, out, "it did the work itself")
		require.ErrorContains(t, <-first, errDown.Error())
		require.Equal(t, 2, w.runs())
	})
}

// A mock that is a function goes through the interceptor; for a local activity the
// test environment then runs the chain twice, nested.
func TestCases_FunctionMock(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{false, true} {
		t.Run(fmt.Sprintf("local=%t", local), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
			env := w.run(func(ctx workflow.Context) (out receipt, err error) {
				for range 2 {
					if local {
						ctx := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
						err = workflow.ExecuteLocalActivity(ctx, "Charge", order7).Get(ctx, &out)
					} else {
						out, err = charge(attempts(ctx, 1), order7)
					}
					if err != nil {
						return out, err
					}
				}
				return out, nil
			}, func(env *sdktest.TestWorkflowEnvironment) {
				env.OnActivity("Charge", mock.Anything, mock.Anything).Return(func(ctx context.Context, in chargeIn) (receipt, error) {
					w.add(effectonce.Current(ctx).Key())
					return receipt{"mock", in.Cents}, nil
				})
			})
			require.Equal(t, receipt{"mock", 500}, result(t, env))
			require.Equal(t, 1, w.runs())
			require.Equal(t, int64(1), w.record().Fence)
		})
	}
}

// The key that a body can send downstream: stable over attempts and resets, short, and
// of no meaning to others.
func TestCases_TheBodySeesItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		return receipt{}, errDown
	})
	w.run(chargeOnce(order7, 2))
	w.run(chargeOnce(order7, 1)) // as after a reset
	require.Len(t, w.keys, 3)
	for _, k := range w.keys {
		require.Equal(t, w.keys[0], k)
		require.Regexp(t, `^eo1_[0-9a-f]{64}$`, k)
	}
}

// An activity that no workflow scheduled: its ID is what it is known by.
func TestCases_StandaloneActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	var suite sdktest.WorkflowTestSuite
	for range 2 {
		env := suite.NewTestActivityEnvironment()
		env.SetExecuteActivitiesInWorkflow(false)
		env.SetWorkerOptions(workerOptions(w.ic))
		env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
		value, err := env.ExecuteActivity("Charge", order7)
		require.NoError(t, err)
		var out receipt
		require.NoError(t, value.Get(&out))
		require.Equal(t, receipt{"a", 500}, out)
	}
	require.Equal(t, 1, w.runs())
	require.Equal(t, "standalone", w.record().ScopeKind)
}
