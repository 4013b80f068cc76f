package redis

import "github.com/effectonce/effectonce/store"

// Waiting returns how many calls wait for the one with this token that is under way.
func (s *Store) Waiting(token store.Token) int {
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	if f := s.flights.of[token]; f != nil {
		return f.waiting
	}
	return 0
}

// Lanes is how many calls can be under way at a time, one in each.
const Lanes = lanes

// Prefix returns what the keys begin with.
func (s *Store) Prefix() string { return s.opts.Prefix }
