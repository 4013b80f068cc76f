package dynamodb

import (
	"time"

	"github.com/effectonce/effectonce/store"
)

// WithClock returns o with a clock for tests.
func (o Options) WithClock(now func() time.Time) Options {
	o.clock = now
	return o
}

// Table returns the name of the table.
func (s *Store) Table() string { return s.opts.Table }

// Waiting returns how many calls wait for the one with this token that is under way.
func (s *Store) Waiting(token store.Token) int {
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	if f := s.flights.of[token]; f != nil {
		return f.waiting
	}
	return 0
}
