package interceptor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Multiplexer is for an activity type through which many tools are called, such as an
// MCP proxy: which tool it is stands in the input.
type Multiplexer struct {
	// Tool returns the name of the tool that a call is for, and the arguments that
	// belong to the tool: what the key and the policy's pointers are about. An error
	// refuses the call. Required.
	Tool func(args []any) (tool string, arguments []any, err error)
	// Policies says what exactly-once means, by tool name. An operation is by default
	// the tool's name.
	Policies map[string]Policy
	// ReadOnly lists the tools that need no policy, because they have no effect.
	ReadOnly []string
	// Unlisted says what happens to all other tools. Default [Options.Unlisted].
	Unlisted Unlisted
}

func (m Multiplexer) faults() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if m.Tool == nil {
		fault("Tool is missing: say which tool a call is for")
	}
	for _, tool := range slices.Sorted(maps.Keys(m.Policies)) {
		for _, err := range m.Policies[tool].faults() {
			fault("tool %q: %w", tool, err)
		}
	}
	for _, tool := range m.ReadOnly {
		if _, both := m.Policies[tool]; both {
			fault("tool %q is in ReadOnly and has a policy: it cannot be both", tool)
		}
	}
	if !m.Unlisted.valid() {
		fault("Unlisted must be PassThrough, Guard or Refuse, got %q", m.Unlisted)
	}
	return faults
}

// The activity types of the SDK's contrib/googleadk.
const (
	GoogleADKCallTool    = "googleadk.CallMcpTool"
	GoogleADKListTools   = "googleadk.ListMcpTools"
	GoogleADKInvokeModel = "googleadk.InvokeModel"
)

// GoogleADK returns the multiplexer for [GoogleADKCallTool], the activity of the SDK's
// contrib/googleadk that calls the tools of MCP servers. Tools are named
// "toolset/tool"; pointers are about the tool's own arguments: "/0/amount". What else
// is in the input (session, invocation, function call ID) is new whenever the model is
// asked, and does not count.
//
//	interceptor.Options{
//		Multiplexers: map[string]interceptor.Multiplexer{
//			interceptor.GoogleADKCallTool: interceptor.GoogleADK(policies),
//		},
//		ReadOnly: []string{interceptor.GoogleADKListTools, interceptor.GoogleADKInvokeModel},
//	}
func GoogleADK(policies map[string]Policy) Multiplexer {
	return Multiplexer{Tool: googleADKTool, Policies: policies}
}

// googleADKTool reads the activity's input by the names of its fields: its type is not
// exported.
func googleADKTool(args []any) (string, []any, error) {
	if len(args) != 1 {
		return "", nil, fmt.Errorf("want one argument, got %d", len(args))
	}
	in := reflect.Indirect(reflect.ValueOf(args[0]))
	if in.Kind() != reflect.Struct {
		return "", nil, fmt.Errorf("want a struct, got %T", args[0])
	}
	toolset, tool, arguments := in.FieldByName("Toolset"), in.FieldByName("Tool"), in.FieldByName("Args")
	if toolset.Kind() != reflect.String || tool.Kind() != reflect.String || !arguments.IsValid() || !arguments.CanInterface() {
		return "", nil, fmt.Errorf("%T has no fields Toolset, Tool and Args: this version of contrib/googleadk is not known", args[0])
	}
	return toolset.String() + "/" + tool.String(), []any{arguments.Interface()}, nil
}
