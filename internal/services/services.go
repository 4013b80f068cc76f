package services

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// Main runs a package's tests and then stops the servers they shared.
//
//	func TestMain(m *testing.M) { services.Main(m) }
//
// A package with a TestMain of its own calls [Shutdown] after m.Run instead.
func Main(m *testing.M) {
	defer Shutdown()
	m.Run()
}

// Shutdown stops the servers that this test binary started and removes their
// folders. A test that asks for a server afterwards gets a new one.
func Shutdown() {
	for _, s := range []interface{ stop() }{&postgres, &redis, &temporal, &temporal132} {
		s.stop()
	}
}

var (
	postgres    = shared[*postgresServer]{start: startPostgres}
	redis       = shared[*redisServer]{start: startRedis}
	temporal    = shared[*temporalServer]{start: startTemporal}
	temporal132 = shared[*temporalServer]{start: startTemporal132}
)

// errMissing marks the reason why a server cannot be had on this machine.
type errMissing struct{ error }

func (e errMissing) Unwrap() error { return e.error }

// shared is a server that is started once, by the first test that needs it.
type shared[S interface{ stop() }] struct {
	start func() (S, error)

	mu      sync.Mutex
	asked   bool
	server  S
	problem error
}

func (s *shared[S]) get(tb testing.TB) S {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		s.asked = true
		s.server, s.problem = s.start()
	}
	if s.problem != nil {
		giveUp(tb, s.problem)
	}
	return s.server
}

func (s *shared[S]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked && s.problem == nil {
		s.server.stop()
	}
	s.asked = false
}

// giveUp ends the test: skipped when the machine lacks the server, and failed
// when it has one that does not work or when services are required.
func giveUp(tb testing.TB, problem error) {
	tb.Helper()
	var missing errMissing
	if errors.As(problem, &missing) && os.Getenv("REQUIRE_SERVICES") != "1" {
		tb.Skipf("skipped, because %v (set REQUIRE_SERVICES=1 to make this a failure)", problem)
	}
	tb.Fatalf("no server for this test: %v", problem)
}
