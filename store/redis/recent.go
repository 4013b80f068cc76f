package redis

import (
	"sync"

	"github.com/effectonce/effectonce/store"
)

// recent remembers the claims that were won here, as they were then: what a report
// makes of an unchanged one need not be read again. Whatever is not in it is read.
type recent struct {
	mu sync.Mutex
	of map[store.Token]row
}

// remembered is how many claims are remembered: more than a process runs actions.
const remembered = 4096

// add remembers a claim that has just been written with this version.
func (m *recent) add(r store.Record, v version) {
	r.Fields = clone(r.Fields) // they are the caller's
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.of) >= remembered {
		for token := range m.of { // any: many have been abandoned
			delete(m.of, token)
			break
		}
	}
	m.of[r.Token] = row{Record: r, version: v}
}

// take returns the claim as it was made, and forgets it.
func (m *recent) take(held store.Claim) (row, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.of[held.Token]
	delete(m.of, held.Token)
	return r, ok && r.Claim() == held
}
