package provider

import (
	"fmt"
	"sync"
	"time"
)

// Behaviour is how the provider treats one case. The zero value (with a Case) is a provider without
// faults that honours keys and answers questions about them.
type Behaviour struct {
	// Case selects the requests by their X-Case header. The empty case stands for every case
	// that has no behaviour of its own.
	Case string `json:"case"`
	// IgnoreKeys makes every request an effect, whatever its Idempotency-Key.
	IgnoreKeys bool `json:"ignore_keys,omitempty"`
	// RefuseQuestions answers 404 to "what happened under this key?".
	RefuseQuestions bool `json:"refuse_questions,omitempty"`
	// Faults are tried in order; the first one that fits a request and is not used up applies.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one programmed misbehaviour.
type Fault struct {
	// Kind is the kind of request it applies to; empty means every kind.
	Kind Kind `json:"kind,omitempty"`
	// Count is how many requests it applies to; 0 means all, until the behaviour is set again.
	Count int `json:"count,omitempty"`
	// Before and After delay the request before and after the commit. The commit happens
	// even if the caller has gone by then, as it does with real providers.
	Before time.Duration `json:"before,omitempty"`
	After  time.Duration `json:"after,omitempty"`
	// Ending is how the request ends.
	Ending Ending `json:"ending,omitempty"`
}

// Ending is how a request ends.
type Ending string

// The endings. Fail and Decline end a request before the commit; the four after them lose the
// answer of a request that was applied.
const (
	EndAnswer     Ending = ""            // a proper answer
	EndFail       Ending = "fail"        // 500 before the commit
	EndDecline    Ending = "decline"     // 402 before the commit; remembered under the key
	EndClose      Ending = "close"       // connection closed without an answer
	EndReset      Ending = "reset"       // connection reset without an answer
	EndCut        Ending = "cut"         // half of the promised body, then closed
	EndBadGateway Ending = "bad-gateway" // 502 with a body that says nothing
)

// validate reports the first thing in b that cannot be meant.
func (b Behaviour) validate() error {
	for i, f := range b.Faults {
		switch f.Ending {
		case EndAnswer, EndFail, EndDecline, EndClose, EndReset, EndCut, EndBadGateway:
		default:
			return fmt.Errorf("faults[%d]: unknown ending %q", i, f.Ending)
		}
		switch f.Kind {
		case "", KindRefund, KindCharge, KindEmail, KindTicket:
		default:
			return fmt.Errorf("faults[%d]: unknown kind %q", i, f.Kind)
		}
		if f.Count < 0 || f.Before < 0 || f.After < 0 {
			return fmt.Errorf("faults[%d]: count, before and after must not be negative", i)
		}
	}
	return nil
}

// behaviours holds the behaviour of every case and counts its faults down.
type behaviours struct {
	mu     sync.Mutex
	byCase map[string]*behaviour
}

type behaviour struct {
	Behaviour
	used []int // used[i] counts the requests that Faults[i] was applied to
}

func (bs *behaviours) set(b Behaviour) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.byCase == nil {
		bs.byCase = make(map[string]*behaviour)
	}
	bs.byCase[b.Case] = &behaviour{Behaviour: b, used: make([]int, len(b.Faults))}
}

func (bs *behaviours) clear() {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.byCase = nil
}

// next takes the fault for the next request of a case and kind, and says whether keys are ignored.
func (bs *behaviours) next(caseID string, kind Kind) (f Fault, ignoreKeys bool) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b := bs.of(caseID)
	for i, f := range b.Faults {
		if f.Kind != "" && f.Kind != kind || f.Count > 0 && b.used[i] >= f.Count {
			continue
		}
		b.used[i]++
		return f, b.IgnoreKeys
	}
	return Fault{}, b.IgnoreKeys
}

// refusesQuestions says whether questions about the keys of a case stay without an answer.
func (bs *behaviours) refusesQuestions(caseID string) bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.of(caseID).RefuseQuestions
}

// of returns the behaviour of a case; bs.mu is held.
func (bs *behaviours) of(caseID string) *behaviour {
	if b, ok := bs.byCase[caseID]; ok {
		return b
	}
	if b, ok := bs.byCase[""]; ok {
		return b
	}
	return &behaviour{}
}
