package postgres

import (
	"sync"

	"github.com/effectonce/effectonce/store"
)

// recent remembers the first claims that were won here, as they were then: what a report
// makes of an unchanged one need not be read again. Whatever is not in it is read.
type recent struct {
	mu sync.Mutex
	of map[store.Token]*store.Record
}

// remembered is how many claims are remembered: more than a process runs actions.
const remembered = 4096

// add remembers a claim that has just been inserted. r stays as it is.
func (m *recent) add(r *store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.of) >= remembered {
		for token := range m.of { // any: many have been abandoned
			delete(m.of, token)
			break
		}
	}
	m.of[r.Token] = r
}

// take returns the claim if it was as remembered when the write that made version
// changed it, and forgets it. A record is inserted with version 1.
func (m *recent) take(held store.Claim, version int64) (store.Record, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.of[held.Token]
	delete(m.of, held.Token)
	if !ok || r.Claim() != held || version != 2 {
		return store.Record{}, false
	}
	return *r, true
}
