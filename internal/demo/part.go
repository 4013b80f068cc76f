package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/effectonce/effectonce/internal/provider"
)

// part says what one process of the demo does. Exactly one field is set.
type part struct {
	Worker   *workerPart   `json:"worker,omitempty"`
	Provider *providerPart `json:"provider,omitempty"`
}

// Part plays one part of a demo that [Run] directs from another process, until ctx ends. spec is the
// argument that Run has added to [Options].Self.
func Part(ctx context.Context, spec string, ask AskFunc) error {
	var p part
	if err := json.Unmarshal([]byte(spec), &p); err != nil {
		return fmt.Errorf("this command is for the demo's own use: %w", err)
	}
	switch {
	case p.Worker != nil:
		return p.Worker.run(ctx, ask)
	case p.Provider != nil:
		return p.Provider.run(ctx)
	}
	return fmt.Errorf("this command is for the demo's own use: %s names no part", spec)
}

// args returns the arguments that make this program play p.
func (p part) args(self []string) ([]string, error) {
	spec, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return append(self[1:len(self):len(self)], string(spec)), nil
}

// providerPart is the provider's process. Its first line of output is its URL.
type providerPart struct {
	Journal string `json:"journal"` // path
}

func (p providerPart) run(ctx context.Context) error {
	server, err := provider.NewServer(provider.Options{Journal: p.Journal})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, server.Close())
	}
	if _, err := fmt.Fprintf(os.Stdout, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close(), server.Close())
	}
	return server.Serve(ctx, listener)
}

// contains reports whether the row is one of ids.
func contains(ids string, r row) bool { return strings.Contains(ids, r.id) }
