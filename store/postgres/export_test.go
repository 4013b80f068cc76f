package postgres

import "github.com/effectonce/effectonce/store"

// Waiting returns how many callers wait for an earlier call with the same token.
func (s *Store) Waiting(token store.Token) int {
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	if f := s.flights.of[token]; f != nil {
		return f.waiting
	}
	return 0
}
