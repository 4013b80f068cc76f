package temporalcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/effectonce/effectonce/internal/process"
)

const (
	startTimeout = 60 * time.Second

	// startTries bounds how often a server is started again because something
	// else took one of its ports between our looking and its listening.
	startTries = 3
)

// Options configure [DevServer]. The zero value is ready to use.
type Options struct {
	// Path is the program. Default: what [Find] returns.
	Path string

	// UI also serves Temporal's web pages. Default: no.
	UI bool

	// Args are added to "temporal server start-dev".
	Args []string

	// Output gets the server's log. Default: only its last lines are kept, for
	// errors.
	Output io.Writer
}

// Server is a running Temporal server.
type Server struct {
	address string
	ui      string
	child   *process.Child
}

// DevServer starts a server on free ports of 127.0.0.1 and returns once it
// answers, at most a minute later. It is stopped by [Server.Stop] and when ctx
// ends.
func DevServer(ctx context.Context, options Options) (*Server, error) {
	o := options
	if o.Path == "" {
		path, err := Find(ctx)
		if err != nil {
			return nil, fmt.Errorf("start a Temporal server: %w", err)
		}
		o.Path = path
	}
	var failed error
	for range startTries {
		server, err := o.start(ctx)
		if err == nil {
			return server, nil
		}
		failed = fmt.Errorf("start a Temporal server: %w", err)
		if !errors.Is(err, errEnded) {
			break
		}
	}
	return nil, failed
}

// errEnded marks an error after which another try may succeed.
var errEnded = errors.New("the server ended while it started")

func (o Options) start(ctx context.Context) (*Server, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	s := &Server{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	args := []string{
		"server", "start-dev",
		"--ip", "127.0.0.1", "--port", strconv.Itoa(port),
		"--log-level", "warn",
		"--disable-config-file",
	}
	if o.UI {
		uiPort, err := process.FreePort()
		if err != nil {
			return nil, err
		}
		s.ui = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(uiPort))
		args = append(args, "--ui-ip", "127.0.0.1", "--ui-port", strconv.Itoa(uiPort))
	} else {
		args = append(args, "--headless")
	}
	s.child, err = process.Start(ctx, process.Command{
		Path:   o.Path,
		Name:   "temporal server",
		Args:   append(args, o.Args...),
		Output: o.Output,
	})
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.child.Until(ready, s.answers); err != nil {
		select {
		case <-s.child.Done():
			if ctx.Err() == nil {
				err = errors.Join(errEnded, err)
			}
		default:
			_ = s.child.Stop()
		}
		return nil, err
	}
	return s, nil
}

// answers is nil once a worker could use the server and a person the UI.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	temporal, err := client.DialContext(ctx, client.Options{
		HostPort: s.address,
		Logger:   log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return err
	}
	defer temporal.Close()
	_, err = temporal.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: client.DefaultNamespace})
	if err != nil || s.ui == "" {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.ui, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the UI answers %s", response.Status)
	}
	return nil
}

// Address is where clients and workers connect, as host:port.
func (s *Server) Address() string { return s.address }

// UI is the address of the web pages, or "" without them.
func (s *Server) UI() string { return s.ui }

// PID is the server's process id.
func (s *Server) PID() int { return s.child.PID() }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.child.Done() }

// Stop ends the server and everything it remembers. It may be called more than
// once; the error tells of a server that had ended by itself.
func (s *Server) Stop() error { return s.child.Stop() }
