package effectonce

// Scope says how widely two equal calls are the same action. Every policy names
// one: there is no safe default.
type Scope string

// The scopes, from narrow to wide.
const (
	// Call: the same call of the same workflow run, re-executed by a retry, a
	// crash or a reset. Three equal calls in a loop are three actions. A call that
	// follows a failed equal one is its retry.
	Call Scope = "call"
	// Run: any equal call of the same workflow run, resets included. A model that
	// asks again is answered from the record. Use [WithIntent] to tell two wishes
	// for the same thing apart: without it they are one action.
	Run Scope = "run"
	// Chain: like Run, over continue-as-new and workflow retries too.
	Chain Scope = "chain"
	// Workflow: any equal call under the same workflow ID, whichever run. Refused
	// in child workflows with generated IDs: those change on a reset.
	Workflow Scope = "workflow"
	// Agent: any equal call of the same agent of a tenant; see [WithAgent].
	Agent Scope = "agent"
	// Tenant: any equal call of the same tenant, whoever asks and whenever; see
	// [WithTenant].
	Tenant Scope = "tenant"
	// Namespace: any equal call in the namespace.
	Namespace Scope = "namespace"
)
