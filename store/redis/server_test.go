package redis_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/process"
	"github.com/effectonce/effectonce/internal/services"
)

// ownServer is a Redis that a test may kill.
type ownServer struct {
	t     *testing.T
	dir   string
	args  []string
	port  int
	child *process.Child
}

// serve starts a server that keeps its data from one start to the next.
func serve(t *testing.T, args ...string) *ownServer {
	t.Helper()
	port, err := process.FreePort()
	require.NoError(t, err)
	s := &ownServer{t: t, dir: t.TempDir(), port: port, args: args}
	s.start()
	t.Cleanup(func() { _ = s.child.Stop() })
	return s
}

func (s *ownServer) start() {
	s.t.Helper()
	args := append([]string{
		"--bind", "127.0.0.1", "--port", fmt.Sprint(s.port), "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
	}, s.args...)
	child, err := process.Start(context.Background(), process.Command{Path: services.RedisProgram(s.t), Args: args, Dir: s.dir})
	require.NoError(s.t, err)
	s.child = child
	c := s.connect()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(s.t, child.Until(ctx, func(ctx context.Context) error { return c.Ping(ctx).Err() }))
}

func (s *ownServer) stop() { s.t.Helper(); require.NoError(s.t, s.child.Stop()) }

func (s *ownServer) address() string { return net.JoinHostPort("127.0.0.1", fmt.Sprint(s.port)) }

func (s *ownServer) connect() *driver.Client { return connect(s.t, "redis://"+s.address()) }

// replicate makes s a replica of primary, and waits until it is one.
func (s *ownServer) replicate(primary *ownServer) {
	s.t.Helper()
	require.NoError(s.t, s.connect().ReplicaOf(s.t.Context(), "127.0.0.1", fmt.Sprint(primary.port)).Err())
	s.inSync(primary)
}

func (s *ownServer) inSync(primary *ownServer) {
	s.t.Helper()
	c := primary.connect()
	require.Eventually(s.t, func() bool {
		conn := c.Conn()
		defer func() { _ = conn.Close() }()
		if conn.Set(s.t.Context(), "probe", "", 0).Err() != nil {
			return false
		}
		n, err := conn.Do(s.t.Context(), "wait", 1, 100).Int64()
		return err == nil && n == 1
	}, 30*time.Second, 10*time.Millisecond, "no replica")
}

// proxy stands between a client and a server, and meddles with one answer.
type proxy struct {
	address string
	trick   atomic.Pointer[trick]
}

type trick struct {
	left    atomic.Int64 // answers until the one that is meddled with
	held    chan struct{}
	release chan struct{} // nil: the connection is cut instead
}

// before starts a proxy before a server.
func before(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{address: listener.Addr().String()}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			open.Go(func() {
				_, _ = io.Copy(upstream, client)
				_ = upstream.Close()
			})
			open.Go(func() { p.answers(client, upstream) })
		}
	})
	t.Cleanup(func() { _ = listener.Close() })
	return p
}

func (p *proxy) answers(client, server net.Conn) {
	defer func() { _ = client.Close(); _ = server.Close() }()
	for buffer := make([]byte, 1<<20); ; {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if t := p.trick.Load(); t != nil && t.left.Add(-1) == 0 {
			close(t.held)
			if t.release == nil {
				return
			}
			<-t.release
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut has the nth answer from now lost, with its connection.
func (p *proxy) cut(nth int64) *trick { return p.play(nth, nil) }

// hold has the nth answer from now wait until release is closed.
func (p *proxy) hold(nth int64) *trick { return p.play(nth, make(chan struct{})) }

func (p *proxy) play(nth int64, release chan struct{}) *trick {
	t := &trick{held: make(chan struct{}), release: release}
	t.left.Store(nth)
	p.trick.Store(t)
	return t
}
