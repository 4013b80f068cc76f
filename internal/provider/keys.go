package provider

import (
	"encoding/json"
	"sync"
)

// request is one request for an effect.
type request struct {
	kind        Kind
	caseID, key string
	body        json.RawMessage
}

// answered is a request with the answer it got first.
type answered struct {
	kind   Kind
	body   json.RawMessage
	answer answer
}

// keys makes the requests of one key wait for each other, and remembers declines: like real
// providers it answers a declined key with the decline for ever, even when the card is fine again.
type keys struct {
	mu       sync.Mutex
	turns    map[string]*turn
	declines map[string]answered
}

type turn struct {
	sync.Mutex
	users int // requests that hold or await the turn
}

// lock waits for the turn of a key; the returned function passes it on.
func (k *keys) lock(key string) (unlock func()) {
	k.mu.Lock()
	if k.turns == nil {
		k.turns = make(map[string]*turn)
	}
	t := k.turns[key]
	if t == nil {
		t = &turn{}
		k.turns[key] = t
	}
	t.users++
	k.mu.Unlock()

	t.Lock()
	return func() {
		t.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(k.turns, key)
		}
	}
}

func (k *keys) remember(r request, a answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.declines == nil {
		k.declines = make(map[string]answered)
	}
	k.declines[r.key] = answered{kind: r.kind, body: r.body, answer: a}
}

func (k *keys) declined(key string) (answered, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.declines[key]
	return a, ok
}

func (k *keys) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.declines = nil
}

// counter counts requests per case.
type counter struct {
	mu     sync.Mutex
	total  int
	byCase map[string]int
}

func (c *counter) add(caseID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byCase == nil {
		c.byCase = make(map[string]int)
	}
	c.total++
	c.byCase[caseID]++
}

// of returns the number of requests of a case; of all, if the case is empty.
func (c *counter) of(caseID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if caseID == "" {
		return c.total
	}
	return c.byCase[caseID]
}

func (c *counter) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total, c.byCase = 0, nil
}
