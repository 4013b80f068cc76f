package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/effectonce/effectonce/internal/process"
)

// Redis returns the address of a fresh, empty database on a real Redis server, as a
// URL. On an outside server it is the one that was named for all tests, so that keys
// have to differ between runs.
func Redis(tb testing.TB) string {
	tb.Helper()
	s := redis.get(tb)
	if s.child == nil {
		return s.address
	}
	n := s.databases.Add(1) - 1
	if n >= redisDatabases {
		tb.Fatalf("all %d databases of the test binary's Redis server are given away", redisDatabases)
	}
	return fmt.Sprintf("%s/%d", s.address, n)
}

// RedisProgram returns the path of redis-server, for tests that run a server of
// their own.
func RedisProgram(tb testing.TB) string {
	tb.Helper()
	path, err := redisProgram()
	if err != nil {
		giveUp(tb, err)
	}
	return path
}

const (
	redisTimeout   = 30 * time.Second
	redisDatabases = 4096
)

type redisServer struct {
	address string
	// For a private server only:
	child     *process.Child
	folder    *folder
	databases atomic.Int64
}

func (s *redisServer) stop() {
	if s.child == nil {
		return
	}
	_ = s.child.Stop()
	s.folder.remove()
}

func startRedis() (*redisServer, error) {
	if address := os.Getenv("EFFECTONCE_TEST_REDIS"); address != "" {
		return outsideRedis(address)
	}
	path, err := redisProgram()
	if err != nil {
		return nil, err
	}
	dir, err := newFolder("redis", nil)
	if err != nil {
		return nil, err
	}
	// Something else may take the port between our looking and its listening.
	for range 3 {
		var s *redisServer
		if s, err = serveRedis(path, dir); err == nil {
			return s, nil
		}
		if !strings.Contains(err.Error(), "already in use") {
			break
		}
	}
	dir.remove()
	return nil, fmt.Errorf("start %s: %w", path, err)
}

func serveRedis(path string, dir *folder) (*redisServer, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(context.Background(), process.Command{
		Path: path,
		Args: []string{
			"--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--dir", dir.path, "--save", "", "--appendonly", "no",
			"--databases", fmt.Sprint(redisDatabases),
		},
		Dir: dir.path,
	})
	if err != nil {
		return nil, err
	}
	address := "redis://" + net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	if err := child.Until(ctx, func(ctx context.Context) error { return pingRedis(ctx, address) }); err != nil {
		_ = child.Stop()
		return nil, err
	}
	return &redisServer{address: address, child: child, folder: dir}, nil
}

func outsideRedis(address string) (*redisServer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	if err := pingRedis(ctx, address); err != nil {
		return nil, fmt.Errorf("EFFECTONCE_TEST_REDIS: %w", err)
	}
	return &redisServer{address: address}, nil
}

func pingRedis(ctx context.Context, address string) error {
	options, err := driver.ParseURL(address)
	if err != nil {
		// Not the error itself: it may repeat the address with its password.
		return errors.New("no URL of the form redis://user:password@host:port/database")
	}
	options.MaxRetries = -1
	client := driver.NewClient(options)
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
}

func redisProgram() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errMissing{errors.New("redis-server is not on PATH (make deps installs it)")}
}
