package services

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/effectonce/effectonce/internal/temporalcli"
)

// Temporal returns where a real Temporal server answers, and a fresh namespace
// there. On an outside server the namespace is the one that was named for all
// tests, so that workflow IDs still have to differ between runs.
func Temporal(tb testing.TB) (hostPort, namespace string) {
	tb.Helper()
	return temporal.get(tb).fresh(tb)
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
	address    string
	namespace  string          // of an outside server
	private    temporalProcess // nil for an outside server
	client     client.NamespaceClient
	namespaces atomic.Int64
}

// temporalProcess is a server that this test binary started.
type temporalProcess interface {
	PID() int
	Stop() error
}

// fresh returns where the server answers, and a namespace that no other test has.
func (s *temporalServer) fresh(tb testing.TB) (hostPort, namespace string) {
	tb.Helper()
	if s.private == nil {
		return s.address, s.namespace
	}
	name := fmt.Sprintf("test-%d", s.namespaces.Add(1))
	if err := s.register(tb.Context(), name); err != nil {
		tb.Fatalf("register a namespace for this test: %v", err)
	}
	return s.address, name
}

const namespaceTimeout = 30 * time.Second

// register makes a namespace, which costs some milliseconds. The server takes
// about 20 a second and refuses more for a moment.
func (s *temporalServer) register(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, namespaceTimeout)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := s.client.Register(ctx, &workflowservice.RegisterNamespaceRequest{
			Namespace:                        name,
			WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
		})
		var busy *serviceerror.ResourceExhausted
		if !errors.As(err, &busy) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

func (s *temporalServer) stop() {
	if s.private != nil {
		s.client.Close()
		_ = s.private.Stop()
	}
}

func startTemporal() (*temporalServer, error) {
	if s := outsideTemporal("EFFECTONCE_TEST_TEMPORAL"); s != nil {
		return s, nil
	}
	path, err := findTemporal()
	if err != nil {
		return nil, err
	}
	server, err := temporalcli.DevServer(context.Background(), temporalcli.Options{Path: path})
	if err != nil {
		return nil, err
	}
	return privateTemporal(server.Address(), server)
}

// outsideTemporal returns the server that an environment variable names, or nil.
func outsideTemporal(env string) *temporalServer {
	address := os.Getenv(env)
	if address == "" {
		return nil
	}
	namespace := os.Getenv(env + "_NAMESPACE")
	if namespace == "" {
		namespace = client.DefaultNamespace
	}
	return &temporalServer{address: address, namespace: namespace}
}

// privateTemporal takes over a server that was started, and stops it if it cannot be used.
func privateTemporal(address string, server temporalProcess) (*temporalServer, error) {
	namespaces, err := client.NewNamespaceClient(client.Options{
		HostPort: address,
		Logger:   log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		_ = server.Stop()
		return nil, err
	}
	return &temporalServer{address: address, private: server, client: namespaces}, nil
}

func findTemporal() (string, error) {
	path, err := temporalcli.Find(context.Background())
	if errors.Is(err, temporalcli.ErrNotFound) {
		return "", errMissing{fmt.Errorf("%w (make deps builds it)", err)}
	}
	return path, err
}
