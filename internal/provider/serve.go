package provider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// stopTimeout is how long requests under way may take once a server is to stop.
const stopTimeout = 5 * time.Second

// Serve answers on l until ctx is done, then ends after the requests under way, and closes l and s.
func (s *Server) Serve(ctx context.Context, l net.Listener) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err = h.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close() // a request slower than that has lost its answer
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
