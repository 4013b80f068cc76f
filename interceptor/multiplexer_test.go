package interceptor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	sdktest "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
)

// mcpCall has the shape of the input of the SDK's contrib/googleadk.
type mcpCall struct {
	Toolset string
	Tool    string
	Args    map[string]any
	Ctx     struct{ FunctionCallID string }
}

func callTool(toolset, tool, callID string, args map[string]any) mcpCall {
	in := mcpCall{Toolset: toolset, Tool: tool, Args: args}
	in.Ctx.FunctionCallID = callID
	return in
}

func TestMultiplexer_EveryToolHasItsOwnPolicyAndCallIDsDoNotCount(t *testing.T) {
	t.Parallel()
	m := interceptor.GoogleADK(map[string]interceptor.Policy{
		"bank/transfer": {Scope: effectonce.Run, Unknown: interceptor.Hold(), Ignore: []string{"/0/memo"}},
		"bank/charge":   {Scope: effectonce.Run, Unknown: interceptor.Hold()},
	})
	m.ReadOnly, m.Unlisted = []string{"bank/balance"}, interceptor.Refuse
	w := newWorld(t, interceptor.Policy{}, succeed, func(o *interceptor.Options) {
		o.Policies, o.Multiplexers = nil, map[string]interceptor.Multiplexer{interceptor.GoogleADKCallTool: m}
	})
	var ran []string
	adk := func(env *sdktest.TestWorkflowEnvironment) {
		env.RegisterActivityWithOptions(func(_ context.Context, in mcpCall) (map[string]any, error) {
			ran = append(ran, in.Toolset+"/"+in.Tool)
			return map[string]any{"ok": true}, nil
		}, activity.RegisterOptions{Name: interceptor.GoogleADKCallTool})
	}
	calls := func(list ...mcpCall) func(workflow.Context) error {
		return func(ctx workflow.Context) error {
			for _, in := range list {
				if err := workflow.ExecuteActivity(attempts(ctx, 1), interceptor.GoogleADKCallTool, in).Get(ctx, nil); err != nil {
					return err
				}
			}
			return nil
		}
	}
	pay := func(memo string) map[string]any { return map[string]any{"to": "bob", "cents": 500, "memo": memo} }
	env := w.run(calls(
		callTool("bank", "transfer", "c1", pay("thanks")),
		callTool("bank", "transfer", "c2", pay("thank you")), // the model asks again
		callTool("bank", "charge", "c3", pay("thanks")),      // another tool with the same arguments
		callTool("bank", "balance", "c4", nil),
		callTool("bank", "balance", "c5", nil),
	), adk)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"bank/transfer", "bank/charge", "bank/balance", "bank/balance"}, ran)
	require.Len(t, w.records(), 2)

	app := failure(t, w.run(calls(callTool("bank", "close", "c6", nil)), adk))
	require.Equal(t, effectonce.ErrTypeScope, app.Type())
	require.Contains(t, app.Message(), "bank/close")
	require.Len(t, ran, 4)
}

func TestMultiplexer_ReportsItsFaults(t *testing.T) {
	t.Parallel()
	_, err := interceptor.NewPlugin(nil, interceptor.Options{Multiplexers: map[string]interceptor.Multiplexer{
		"Call": {Policies: map[string]interceptor.Policy{"pay": {}}, ReadOnly: []string{"pay"}, Unlisted: "x"},
	}})
	for _, part := range []string{`multiplexer "Call"`, "Tool is missing", `tool "pay": Scope is missing`, `"pay" is in ReadOnly`, "Unlisted must be"} {
		require.ErrorContains(t, err, part)
	}
}
