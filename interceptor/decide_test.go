package interceptor

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// TestDecide walks every state of a record against everything a decision depends on.
// want is written out here a second time, as rules in order, from the design; the
// table in decide must come to the same for all combinations.
func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	mine, other := store.Token{1}, store.Token{2}
	seen := map[decision]int{}
	for _, state := range []store.State{store.InFlight, store.Pending, store.Completed, store.Failed, store.Free, store.Unknown} {
		for _, over := range []bool{false, true} { // the lease; for finished records, the retention
			for _, token := range []store.Token{mine, other} {
				for _, fingerprint := range []string{"same", "other", "forgotten"} {
					for _, scheduled := range []string{"same", "other", "none"} {
						for _, otherKey := range []bool{false, true} {
							for _, unknown := range []unknownKind{rerun, reconcile, transactional, hold} {
								for _, forget := range []string{"", "outcome dropped", "outcome not dropped yet"} {
									for _, ran := range []bool{false, true} {
										q := store.Request{Ref: store.Ref{Key: key.Key{1}}, Token: mine, Fingerprint: store.Digest{1}, Scheduled: store.Digest{7}}
										rec := store.Record{Ref: q.Ref, State: state, Token: token, Fingerprint: store.Digest{1}, Now: now, Lease: now.Add(time.Second)}
										if over {
											rec.Lease = now
										}
										if rec.Done() && (!over || forget == "outcome not dropped yet") {
											rec.Outcome = &store.Outcome{Format: "x"}
										}
										if rec.Retention = 2 * time.Second; over {
											rec.Finished, rec.Expires = now.Add(-rec.Retention), now
										} else {
											rec.Finished, rec.Expires = now.Add(-rec.Retention).Add(1), now
										}
										switch fingerprint {
										case "other":
											rec.Fingerprint = store.Digest{2}
										case "forgotten":
											rec.Fingerprint = store.Digest{}
										}
										switch scheduled {
										case "same":
											rec.Scheduled = q.Scheduled
										case "other":
											rec.Scheduled = store.Digest{8}
										case "none":
											q.Scheduled = store.Digest{}
										}
										if otherKey {
											rec.Key = key.Key{2}
										}
										name := fmt.Sprintf("%s over=%t mine=%t fp=%s sched=%s otherKey=%t %s forget=%q ran=%t",
											state, over, token == mine, fingerprint, scheduled, otherKey, unknown, forget, ran)
										got := decide(rec, situation{request: q, unknown: unknown, forget: forget != "", ran: ran})
										seen[got]++

										done := state == store.Completed || state == store.Failed
										live := (state == store.InFlight || state == store.Pending) && !over
										var want decision
										switch {
										case otherKey, fingerprint == "other" && scheduled == "same":
											want = adopt
										case fingerprint == "other":
											want = mismatch
										case done && over && forget != "" && scheduled != "same" && !ran:
											want = reopen
										case done && rec.Outcome != nil:
											want = replay
										case done:
											want = outcomeExpired
										case state == store.InFlight && token == mine && !ran:
											want = run
										case live:
											want = wait
										case ran:
											want = giveWay
										case state == store.Free:
											want = claimAgain
										case unknown == rerun, unknown == transactional:
											want = takeOver
										case unknown == reconcile:
											want = ask
										default:
											want = held
										}
										require.Equal(t, want, got, name)

										// What must never be, said without the table:
										if ran {
											require.NotContains(t, []decision{run, takeOver, claimAgain, ask, reopen}, got, "a body never runs twice in one attempt: "+name)
										}
										if fingerprint == "other" && scheduled != "same" && !otherKey {
											require.Equal(t, mismatch, got, "nothing is answered from another request's record: "+name)
										}
										if unknown == hold {
											require.NotContains(t, []decision{takeOver, ask}, got, "held is held: "+name)
										}
										if scheduled == "same" {
											require.NotEqual(t, reopen, got, "a call that was completed is not run again: "+name)
										}
										if got == run {
											require.Equal(t, mine, rec.Token, name)
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
	require.Len(t, seen, 12, "every decision occurs: %v", seen)
}
