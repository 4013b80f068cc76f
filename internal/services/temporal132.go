package services

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/effectonce/effectonce/internal/process"
)

// Temporal132 is [Temporal] on a server of version 1.32.1, for what the server that
// the command line program carries does not have: activities without a workflow.
func Temporal132(tb testing.TB) (hostPort, namespace string) {
	tb.Helper()
	return temporal132.get(tb).fresh(tb)
}

const temporal132Timeout = 60 * time.Second

func startTemporal132() (*temporalServer, error) {
	if s := outsideTemporal("EFFECTONCE_TEST_TEMPORAL132"); s != nil {
		return s, nil
	}
	path, err := server132()
	if err != nil {
		return nil, err
	}
	// Something else may take one of its ports between its looking and its listening.
	for range 3 {
		var s *temporalServer
		if s, err = serveTemporal132(path); err == nil || !errors.Is(err, errEnded) {
			return s, err
		}
	}
	return nil, err
}

// errEnded marks an error after which another try may succeed.
var errEnded = errors.New("the server ended while it started")

func serveTemporal132(path string) (*temporalServer, error) {
	said := &firstLine{}
	child, err := process.Start(context.Background(), process.Command{Path: path, Name: "temporal server 1.32.1", Output: said})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), temporal132Timeout)
	defer cancel()
	if err := child.Until(ctx, func(ctx context.Context) error { return pingTemporal(ctx, said.String()) }); err != nil {
		select {
		case <-child.Done():
			return nil, errors.Join(errEnded, err)
		default:
			_ = child.Stop()
			return nil, err
		}
	}
	return privateTemporal(said.String(), child)
}

func pingTemporal(ctx context.Context, address string) error {
	if address == "" {
		return errors.New("it has not said its address")
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	c.Close()
	return nil
}

// server132 finds the program where scripts/deps.sh puts it.
func server132() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errMissing{err}
		}
		cache = filepath.Join(home, ".cache")
	}
	path := filepath.Join(cache, "effectonce", "bin", "temporal-server132")
	if _, err := os.Stat(path); err != nil {
		return "", errMissing{fmt.Errorf("there is no Temporal server 1.32.1 (make deps builds it): %w", err)}
	}
	return path, nil
}
