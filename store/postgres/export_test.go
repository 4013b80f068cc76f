package postgres

import (
	"time"

	"github.com/effectonce/effectonce/store"
)

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

// Channel is where the stores of a schema notify.
func Channel(schema string) string { return channelOf(schema) }

// Remembers reports whether a claim with this token is remembered.
func (s *Store) Remembers(token store.Token) bool {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	_, ok := s.recent.of[token]
	return ok
}

// ExpiredTo returns how far Expire has come.
func (s *Store) ExpiredTo() (t time.Time) {
	if to := s.expiredTo.Load(); to != nil {
		t = to.Time
	}
	return t
}
