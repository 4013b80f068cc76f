package storetest

import (
	"time"

	"pgregory.net/rapid"
)

var randomTests = []test{
	{"AgreesWithTheStateMachine", func(e *env) {
		c, injected := e.Store.(Advancer)
		runs, failed := 0, false
		rapid.Check(e.T, func(rt *rapid.T) {
			// A store on a disk or behind a network is slow; its runs are fewer, unless
			// a failure is being made smaller.
			if runs++; runs > 25 && (!injected || e.peer != nil) && !failed {
				return
			}
			whole := false
			defer func() { failed = failed || !whole }()
			m := newModel(e)
			steps := map[string]func(*rapid.T){
				"Claim": m.claim, "TakeOver": m.takeOver, "Report": m.report, "Amend": m.amend, "Renew": m.renew, "": m.compare,
			}
			if injected {
				steps["Advance"] = func(t *rapid.T) {
					c.Advance(rapid.SampledFrom([]time.Duration{time.Microsecond, time.Second, time.Minute, long, 3 * long}).Draw(t, "by"))
				}
			}
			rt.Repeat(steps)
			m.histories(rt)
			whole = true
		})
	}},
	{"ConcurrentCallsAreLinearizable", linearizable},
}
