package interceptor_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/store"
)

var order7 = chargeIn{Order: 7, Cents: 500, Note: "as promised"}

func TestRun_ASecondEqualCallIsAnsweredFromTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	twice := func(ctx workflow.Context) (receipt, error) {
		first, err := charge(attempts(ctx, 1), order7)
		if err != nil {
			return first, err
		}
		reworded := order7
		reworded.Note = "once more, in other words"
		second, err := charge(attempts(ctx, 1), reworded)
		if first != second {
			return second, errors.New("the second answer differs")
		}
		return second, err
	}
	require.Equal(t, receipt{"a", 500}, result(t, w.run(twice)))
	require.Equal(t, receipt{"a", 500}, result(t, w.run(twice)), "and after a reset")
	require.Equal(t, 1, w.runs())
	require.Equal(t, store.Completed, w.record().State)
	require.Equal(t, w.record().Key.String(), w.keys[0], "the body sends the key downstream")
}

func TestRun_IntentsTellEqualCallsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	result(t, w.run(func(ctx workflow.Context) (out receipt, err error) {
		for _, turn := range []string{"turn 1", "turn 2", "turn 2"} {
			if out, err = charge(effectonce.WithIntent(attempts(ctx, 1), turn), order7); err != nil {
				return out, err
			}
		}
		return out, nil
	}))
	require.Equal(t, 2, w.runs())
}

func TestCall_ThreeRemindersInALoopAreThreeAlsoAfterAReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Call, Unknown: interceptor.Rerun()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		if run == 2 {
			return receipt{}, effectonce.NotApplied(errors.New("before the effect"))
		}
		return succeed(ctx, run, in)
	})
	loop := func(ctx workflow.Context) (out receipt, err error) {
		for range 3 {
			if out, err = charge(attempts(ctx, 3), order7); err != nil {
				return out, err
			}
		}
		return out, nil
	}
	result(t, w.run(loop))
	require.Equal(t, 4, w.runs(), "three effects and one attempt that failed before")
	result(t, w.run(loop))
	require.Equal(t, 4, w.runs())
	require.Len(t, w.records(), 3)
}

func TestCall_ARetryByHandIsARetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Call, Unknown: interceptor.Rerun()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		if run < 3 {
			return receipt{}, io.ErrUnexpectedEOF
		}
		return succeed(ctx, run, in)
	})
	result(t, w.run(func(ctx workflow.Context) (out receipt, err error) {
		for range 5 {
			if out, err = charge(attempts(ctx, 1), order7); err == nil {
				return out, nil
			}
		}
		return out, err
	}))
	require.Equal(t, 3, w.runs())
	require.Len(t, w.records(), 1)
	require.Equal(t, []string{w.keys[0], w.keys[0], w.keys[0]}, w.keys, "the receiver sees one request")
}

func TestTenant_TwoWorkflowsAskForOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}, succeed)
	as := func(tenant string) func(workflow.Context) (receipt, error) {
		return func(ctx workflow.Context) (receipt, error) {
			return charge(effectonce.WithTenant(attempts(ctx, 1), tenant), order7)
		}
	}
	id := func(id string) func(*sdktest.TestWorkflowEnvironment) {
		return func(env *sdktest.TestWorkflowEnvironment) { env.SetStartWorkflowOptions(clientOptions(id)) }
	}
	require.Equal(t, result(t, w.run(as("acme"), id("one"))), result(t, w.run(as("acme"), id("two"))))
	require.Equal(t, 1, w.runs())
	require.Equal(t, receipt{"b", 500}, result(t, w.run(as("other"), id("three"))), "another tenant is another action")
}

func TestTenant_WithoutATenantNothingRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Tenant, Unknown: interceptor.Hold()}, succeed)
	app := failure(t, w.run(chargeOnce(order7, 2)))
	require.Equal(t, effectonce.ErrTypeScope, app.Type())
	require.False(t, app.NonRetryable(), "a deploy can cure it")
	require.Contains(t, app.Message(), "WithTenant")
	require.Zero(t, w.runs())
	require.Empty(t, w.records())
}

func TestSnowflakes_TwoOrdersThatDifferInTheLastDigitAreTwoActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	result(t, w.run(func(ctx workflow.Context) (receipt, error) {
		if _, err := charge(attempts(ctx, 1), chargeIn{Order: 1746030112345678901, Cents: 1}); err != nil {
			return receipt{}, err
		}
		return charge(attempts(ctx, 1), chargeIn{Order: 1746030112345678902, Cents: 1})
	}))
	require.Equal(t, 2, w.runs())
}

func TestHold_AnUnmarkedErrorIsHeldUntilResolvedAndThenTheWorkflowGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, func(context.Context, int, chargeIn) (receipt, error) {
			return receipt{}, io.EOF
		})
		plain, err := outcome.OfJSON([]byte(`{"id":"by hand","cents":500}`))
		require.NoError(t, err)
		env := w.run(chargeOnce(order7, 0), func(env *sdktest.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(func() {
				_, err := w.store.Amend(context.Background(), w.record(), store.Change{Verb: store.Complete, Outcome: plain, Who: "ops", Why: "seen at the bank"})
				require.NoError(t, err)
			}, 70*time.Second)
		})
		require.Equal(t, receipt{"by hand", 500}, result(t, env))
		require.Equal(t, 1, w.runs())
	})
}

func TestHold_FailHeldFailsAtOnceWithTheBodysErrorAsCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), FailHeld: true}, func(context.Context, int, chargeIn) (receipt, error) {
		return receipt{}, temporal.NewApplicationError("502", "Gateway")
	})
	for range 2 {
		app := failure(t, w.run(chargeOnce(order7, 5)))
		require.Equal(t, effectonce.ErrTypeUnknown, app.Type())
		require.True(t, app.NonRetryable())
		require.Contains(t, app.Message(), w.record().Key.String())
	}
	var details string
	app := failure(t, w.run(chargeOnce(order7, 5)))
	require.NoError(t, app.Details(&details))
	require.Equal(t, w.record().Key.String(), details)
	require.Equal(t, 1, w.runs())
	require.Equal(t, store.Unknown, w.record().State)
}

func TestNotApplied_TheWorkflowSeesTheBodysErrorAndTheNextRunIsANewRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, func(ctx context.Context, run int, in chargeIn) (receipt, error) {
		if run == 1 {
			return receipt{}, effectonce.NotApplied(temporal.NewNonRetryableApplicationError("card declined", "Declined", nil, "51"))
		}
		return succeed(ctx, run, in)
	})
	app := failure(t, w.run(chargeOnce(order7, 5)))
	require.Equal(t, "Declined", app.Type())
	require.True(t, app.NonRetryable())
	var code string
	require.NoError(t, app.Details(&code))
	require.Equal(t, "51", code)
	require.Equal(t, store.Free, w.record().State)

	require.Equal(t, receipt{"b", 500}, result(t, w.run(chargeOnce(order7, 5))), "fixed, then reset")
	require.Equal(t, w.keys[0]+"-2", w.keys[1], "the provider must not answer with its cached refusal")
}

func TestFinal_IsReplayedAsTheSameError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, func(context.Context, int, chargeIn) (receipt, error) {
		return receipt{}, effectonce.Final(temporal.NewNonRetryableApplicationError("account closed", "Closed", errors.New("root"), 42))
	})
	first, second := failure(t, w.run(chargeOnce(order7, 5))), failure(t, w.run(chargeOnce(order7, 5)))
	for _, app := range []*temporal.ApplicationError{first, second} {
		require.Equal(t, "Closed", app.Type())
		require.Equal(t, "account closed", app.Message())
		require.True(t, app.NonRetryable())
		require.ErrorContains(t, errors.Unwrap(app), "root")
		var detail int
		require.NoError(t, app.Details(&detail))
		require.Equal(t, 42, detail)
	}
	require.Equal(t, 1, w.runs())
}

func TestMismatch_TheSameExplicitKeyWithAnotherAmountIsRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	p := interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), Key: func(context.Context, []any) (string, error) { return "approval-1", nil }}
	w := newWorld(t, p, succeed)
	result(t, w.run(chargeOnce(order7, 1)))
	dearer := order7
	dearer.Cents = 900
	app := failure(t, w.run(func(ctx workflow.Context) (receipt, error) {
		// Another scheduled activity, so that it is not taken for a deploy's drift.
		if _, err := charge(attempts(ctx, 1), order7); err != nil {
			return receipt{}, err
		}
		return charge(attempts(ctx, 5), dearer)
	}))
	require.Equal(t, effectonce.ErrTypeMismatch, app.Type())
	require.True(t, app.NonRetryable())
	require.Contains(t, app.Message(), "/0/cents", "the error names the field")
	require.NotContains(t, app.Message(), "900", "and never a value")
	require.Equal(t, 1, w.runs())
}

func TestInput_ThatCannotBeCanonicalisedRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	env := w.run(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
		return workflow.ExecuteLocalActivity(ctx, "Measure", math.NaN()).Get(ctx, nil)
	}, func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(func(context.Context, float64) error { w.add(""); return nil }, activity.RegisterOptions{Name: "Measure"})
	})
	require.NoError(t, env.GetWorkflowError(), "no policy: passes through")
	require.Equal(t, 1, w.runs())

	w = newWorld(t, interceptor.Policy{}, succeed, func(o *interceptor.Options) {
		o.Policies = map[string]interceptor.Policy{"Measure": {Scope: effectonce.Run, Unknown: interceptor.Hold()}}
	})
	app := failure(t, w.run(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
		return workflow.ExecuteLocalActivity(ctx, "Measure", math.NaN()).Get(ctx, nil)
	}, func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(func(context.Context, float64) error { w.add(""); return nil }, activity.RegisterOptions{Name: "Measure"})
	}))
	require.Equal(t, effectonce.ErrTypeInput, app.Type())
	require.True(t, app.NonRetryable())
	require.Zero(t, w.runs())
}

func TestPanic_LeavesTheOutcomeUnknownAndGoesOnUntouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold(), FailHeld: true}, func(context.Context, int, chargeIn) (receipt, error) {
		panic("after the effect")
	})
	var asPanic *temporal.PanicError
	require.ErrorAs(t, w.run(chargeOnce(order7, 1)).GetWorkflowError(), &asPanic)
	require.Contains(t, asPanic.StackTrace(), "flow_test.go", "the stack is the body's")
	require.Equal(t, effectonce.ErrTypeUnknown, failure(t, w.run(chargeOnce(order7, 3))).Type())
	require.Equal(t, 1, w.runs())
}

func TestPending_GoesThroughBareAndIsNotCompleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, func(context.Context, int, chargeIn) (receipt, error) {
		return receipt{}, activity.ErrResultPending
	})
	var suite sdktest.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(workerOptions(w.ic))
	env.RegisterActivityWithOptions(w.charge, activity.RegisterOptions{Name: "Charge"})
	_, err := env.ExecuteActivity("Charge", order7)
	require.Equal(t, activity.ErrResultPending, err)
	require.Equal(t, store.Pending, w.record().State)
}

func TestResult_ThatIsTooLargeOrCannotBeEncodedDoesNotRepeatTheEffect(t *testing.T) {
	t.Parallel()
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Rerun()}, func(context.Context, int, chargeIn) (receipt, error) {
			return receipt{ID: strings.Repeat("x", 3<<20)}, nil
		})
		for range 2 {
			app := failure(t, w.run(chargeOnce(order7, 5)))
			require.Equal(t, effectonce.ErrTypeResultLost, app.Type())
			require.True(t, app.NonRetryable())
		}
		require.Equal(t, 1, w.runs())
		require.Greater(t, len(w.record().Outcome.Data), 3<<20, "the record keeps it in full")
	})
	t.Run("not encodable", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, interceptor.Policy{}, succeed, func(o *interceptor.Options) {
			o.Policies = map[string]interceptor.Policy{"Odd": {Scope: effectonce.Run, Unknown: interceptor.Rerun()}}
		})
		odd := func(env *sdktest.TestWorkflowEnvironment) {
			env.RegisterActivityWithOptions(func(context.Context) (any, error) { w.add(""); return map[string]any{"f": func() {}}, nil }, activity.RegisterOptions{Name: "Odd"})
		}
		for range 2 {
			app := failure(t, w.run(func(ctx workflow.Context) error {
				return workflow.ExecuteActivity(attempts(ctx, 5), "Odd").Get(ctx, nil)
			}, odd))
			require.Equal(t, effectonce.ErrTypeResultLost, app.Type())
		}
		require.Equal(t, 1, w.runs())
	})
}

func TestHeader_NewerOrDamagedIsRefusedRetryably(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{"newer": `{"v":2,"root":"r"}`, "damaged": `{"v":`, "no version": `{}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed)
			app := failure(t, w.run(chargeOnce(order7, 2), func(env *sdktest.TestWorkflowEnvironment) {
				env.SetHeader(&commonpb.Header{Fields: map[string]*commonpb.Payload{"effectonce": {Data: []byte(data)}}})
			}))
			require.Equal(t, effectonce.ErrTypeHeader, app.Type())
			require.False(t, app.NonRetryable())
			require.Zero(t, w.runs())
			require.Empty(t, w.records())
		})
	}
}

// What a parent cannot read, its child cannot go by either.
func TestHeader_ThatAParentCouldNotReadStopsItsChildrenToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	app := failure(t, w.run(func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{})
		return workflow.ExecuteChildWorkflow(ctx, "child").Get(ctx, nil)
	}, func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterWorkflowWithOptions(chargeOnce(order7, 2), workflow.RegisterOptions{Name: "child"})
		env.SetHeader(&commonpb.Header{Fields: map[string]*commonpb.Payload{"effectonce": {Data: []byte(`{"v":2,"root":"r"}`)}}})
	}))
	require.Equal(t, effectonce.ErrTypeHeader, app.Type())
	require.Zero(t, w.runs())
}

func TestRetention_ADuplicateAfterItIsRefusedOrRunsAgainAsThePolicySays(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, interceptor.Policy{
				Scope: effectonce.Run, Unknown: interceptor.Hold(), Retention: time.Hour, ForgetAfterRetention: again,
			}, succeed)
			result(t, w.run(chargeOnce(order7, 1)))
			time.Sleep(time.Hour) // of the bubble's clock
			n, err := w.store.(store.Janitor).Expire(context.Background(), 10)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			env := w.run(chargeOnce(order7, 1))
			if again {
				require.Equal(t, receipt{"b", 500}, result(t, env))
				require.Equal(t, w.keys[0]+"-2", w.keys[1])
				return
			}
			app := failure(t, env)
			require.Equal(t, effectonce.ErrTypeOutcomeExpired, app.Type())
			require.True(t, app.NonRetryable())
			require.Equal(t, 1, w.runs())
		})
	}
}

func TestLocalActivity_IsProtectedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, interceptor.Policy{Scope: effectonce.Run, Unknown: interceptor.Hold()}, succeed)
	local := func(ctx workflow.Context) (out receipt, err error) {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
		for range 2 {
			if err = workflow.ExecuteLocalActivity(ctx, "Charge", order7).Get(ctx, &out); err != nil {
				return out, err
			}
		}
		return out, nil
	}
	require.Equal(t, receipt{"a", 500}, result(t, w.run(local)))
	require.Equal(t, receipt{"a", 500}, result(t, w.run(local)))
	require.Equal(t, 1, w.runs())
}

// flakyCodec is a codec behind a network.
type flakyCodec struct{ failures int }

func (f *flakyCodec) Encode(p []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if f.failures--; f.failures >= 0 {
		return nil, errDown
	}
	return p, nil
}

func (f *flakyCodec) Decode(p []*commonpb.Payload) ([]*commonpb.Payload, error) { return p, nil }

func TestResult_ACodecThatIsDownForAMomentLosesNoResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed, func(o *interceptor.Options) {
			o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), &flakyCodec{failures: 3})
		})
		out, err := w.attempt(order7)
		require.NoError(t, err)
		require.Equal(t, receipt{"a", 500}, out)
	})
}

func TestRun_DoesNotStartABodyOnAContextThatIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBroken()
		slow := true
		s.claim = func() error {
			if slow {
				time.Sleep(time.Hour) // longer than the attempt has
			}
			return nil
		}
		w := newWorldOn(t, patient{s}, interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Hold()}, succeed)
		_, err := w.attempt(order7)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, w.runs())
		slow = false
		_, err = w.attempt(order7)
		require.NoError(t, err, "nothing was started, so nothing is held")
	})
}

// patient is a store that claims even if the caller has gone.
type patient struct{ *broken }

func (p patient) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	return p.broken.Claim(context.WithoutCancel(ctx), q)
}
