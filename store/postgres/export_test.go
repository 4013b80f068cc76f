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

// Queued returns how many jobs wait for the lane.
func (s *Store) Queued() int {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	return len(s.lane.waiting)
}
