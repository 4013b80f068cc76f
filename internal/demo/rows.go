package demo

import (
	"time"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/internal/provider"
)

// row is one scenario. It is run twice: see [trial].
type row struct {
	id    string
	title string

	// The policy of all tools in this row.
	scope   effectonce.Scope
	unknown rule

	// How the provider treats this row. It is as unhelpful as it can be while the row is still
	// possible, so that nobody but effectonce can have prevented a duplicate.
	honoursKeys bool // a request with a known Idempotency-Key is answered as before
	mute        bool // no answers to "what happened under this key?"
	faults      []provider.Fault

	// ownWorkers: the play starts the workers, because it kills some.
	ownWorkers bool
	play       playFunc

	// promised is how many effects of each kind there are with effectonce.
	promised int
	kinds    []provider.Kind
	// harmless rows go well without effectonce too. They show that it swallows nothing.
	harmless bool
}

// rule is the rule for unknown outcomes, by its name.
type rule string

const (
	rerun     rule = "Rerun"
	reconcile rule = "Reconcile"
	hold      rule = "Hold"
)

var (
	refunds   = []provider.Kind{provider.KindRefund}
	reminders = []provider.Kind{provider.KindEmail}
	allTools  = []provider.Kind{provider.KindRefund, provider.KindEmail, provider.KindTicket}
)

// rows is the whole demo.
var rows = []row{
	{
		id: "a", title: "answer lost after the refund, then a retry",
		scope: effectonce.Run, unknown: rerun, honoursKeys: true,
		faults: []provider.Fault{{Count: 1, Ending: provider.EndClose}},
		play:   oneRefund, promised: 1, kinds: refunds,
	},
	{
		id: "b", title: "worker killed between effect and record",
		scope: effectonce.Run, unknown: reconcile,
		ownWorkers: true, play: workerKilled, promised: 1, kinds: refunds,
	},
	{
		id: "c", title: "the same, and the provider cannot be asked",
		scope: effectonce.Run, unknown: hold, mute: true,
		ownWorkers: true, play: workerKilledThenResolved, promised: 1, kinds: refunds,
	},
	{
		id: "d", title: "workflow with a child reset to its start",
		scope: effectonce.Run, unknown: reconcile,
		play: agentThenReset, promised: 1, kinds: allTools,
	},
	{
		id: "e", title: "two agents propose the same refund at once",
		scope: effectonce.Tenant, unknown: reconcile,
		// Slow, so that the second request comes while the first is under way.
		faults: []provider.Fault{{Before: time.Second}},
		play:   twoAgents, promised: 1, kinds: refunds,
	},
	{
		id: "f", title: "the model asks again in other words",
		scope: effectonce.Tenant, unknown: reconcile,
		play: modelAsksAgain, promised: 1, kinds: refunds,
	},
	{
		id: "g", title: "three equal reminders on purpose, then reset",
		scope: effectonce.Call, unknown: reconcile,
		play: remindersThenReset, promised: 3, kinds: reminders,
	},
	{
		id: "h", title: "two orders, IDs differ in the 19th digit",
		scope: effectonce.Tenant, unknown: reconcile,
		play: neighbouringOrders, promised: 2, kinds: refunds, harmless: true,
	},
	{
		id: "i", title: "card declined, card fixed, workflow reset",
		scope: effectonce.Run, unknown: reconcile, honoursKeys: true,
		faults: []provider.Fault{{Ending: provider.EndDecline}},
		play:   declinedThenReset, promised: 1, kinds: refunds, harmless: true,
	},
}

// behaviour is how the provider treats one trial of the row.
func (r row) behaviour(t trial) provider.Behaviour {
	return provider.Behaviour{Case: t.name(), IgnoreKeys: !r.honoursKeys, RefuseQuestions: r.mute, Faults: r.faults}
}

// trial is one run of a row. Its name is everything's name: of the case at the provider, the task
// queue, the tenant, and in front of the workflow IDs.
type trial struct {
	row  row
	with bool // effectonce is registered
}

func (t trial) name() string {
	if t.with {
		return t.row.id + "-with"
	}
	return t.row.id + "-without"
}
