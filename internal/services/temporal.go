package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/effectonce/effectonce/internal/temporalcli"
)

// Temporal returns where a real Temporal server answers and a namespace of it.
// All tests share the namespace: a test uses workflow IDs and a task queue of
// its own.
func Temporal(tb testing.TB) (hostPort, namespace string) {
	tb.Helper()
	s := temporal.get(tb)
	return s.address, s.namespace
}

// TemporalCLI returns the path of the Temporal command line program, for tests
// that run a server of their own.
func TemporalCLI(tb testing.TB) string {
	tb.Helper()
	path, err := findTemporal()
	if err != nil {
		giveUp(tb, err)
	}
	return path
}

type temporalServer struct {
	address, namespace string
	private            *temporalcli.Server // nil for an outside server
}

func (s *temporalServer) stop() {
	if s.private != nil {
		_ = s.private.Stop()
	}
}

func startTemporal() (*temporalServer, error) {
	if address := os.Getenv("EFFECTONCE_TEST_TEMPORAL"); address != "" {
		namespace := os.Getenv("EFFECTONCE_TEST_TEMPORAL_NAMESPACE")
		if namespace == "" {
			namespace = "default"
		}
		return &temporalServer{address: address, namespace: namespace}, nil
	}
	path, err := findTemporal()
	if err != nil {
		return nil, err
	}
	server, err := temporalcli.DevServer(context.Background(), temporalcli.Options{Path: path})
	if err != nil {
		return nil, err
	}
	return &temporalServer{address: server.Address(), namespace: "default", private: server}, nil
}

func findTemporal() (string, error) {
	path, err := temporalcli.Find(context.Background())
	if errors.Is(err, temporalcli.ErrNotFound) {
		return "", errMissing{fmt.Errorf("%w (make deps builds it)", err)}
	}
	return path, err
}
