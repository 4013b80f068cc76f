package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce/internal/process"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/internal/temporalcli"
)

// company is everything that runs for a demo: a folder and the processes that use it.
type company struct {
	dir      string
	self     []string // the program, and the arguments to play a part
	storeURL string

	temporal    *temporalcli.Server
	client      client.Client
	providerURL string
	provider    *provider.Client

	// life is the context of all processes but Temporal's. It does not end with the demo's, so
	// that they can be stopped in order.
	life context.Context //nolint:containedctx // it is what the processes live in
	end  context.CancelFunc
	fail context.CancelCauseFunc // ends the demo when a process does that should not

	mu      sync.Mutex
	workers []*process.Child
	other   []*process.Child
	closing bool
}

// found starts Temporal and the provider. fail is called if one of them, or a worker that is not
// meant to die, ends before close.
func found(ctx context.Context, cli string, self []string, fail context.CancelCauseFunc) (_ *company, err error) {
	c := &company{self: self, fail: fail}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	// As long as nothing uses the processes, there is no order in which to stop them.
	defer context.AfterFunc(ctx, c.end)()
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.dir, err = os.MkdirTemp("", "effectonce-demo-"); err != nil {
		return nil, err
	}
	c.storeURL = "sqlite://" + filepath.ToSlash(filepath.Join(c.dir, "effects.db"))
	if _, err := openTally(c.tally()); err != nil {
		return nil, err
	}
	if err := c.startProvider(ctx); err != nil {
		return nil, err
	}
	log, err := c.log("temporal")
	if err != nil {
		return nil, err
	}
	if c.temporal, err = temporalcli.DevServer(c.life, temporalcli.Options{Path: cli, UI: true, Output: log}); err != nil {
		return nil, err
	}
	c.client, err = client.DialContext(ctx, client.Options{HostPort: c.temporal.Address(), Logger: quiet})
	return c, err
}

func (c *company) startProvider(ctx context.Context) error {
	child, err := c.start("provider", part{Provider: &providerPart{Journal: filepath.Join(c.dir, "effects.jsonl")}})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.other = append(c.other, child)
	c.mu.Unlock()
	go c.watch(child)
	err = child.Until(ctx, func(context.Context) error {
		line, _, whole := strings.Cut(child.Tail(), "\n")
		if !whole {
			return errors.New("it has not said its address")
		}
		c.providerURL = line
		return nil
	})
	c.provider = provider.NewClient(c.providerURL)
	return err
}

// worker starts a worker process for the rows with these IDs. One that crashes is left alone to die.
func (c *company) worker(name, rowIDs string, with, crash bool) (*process.Child, error) {
	child, err := c.start(name, part{Worker: &workerPart{
		Temporal: c.temporal.Address(), Provider: c.providerURL, Store: c.storeURL, Tally: c.tally(),
		Rows: rowIDs, With: with, Crash: crash,
	}})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.workers = append(c.workers, child)
	c.mu.Unlock()
	if !crash {
		go c.watch(child)
	}
	return child, nil
}

// start starts this program once more, to play a part.
func (c *company) start(name string, p part) (*process.Child, error) {
	args, err := p.args(c.self)
	if err != nil {
		return nil, err
	}
	log, err := c.log(name)
	if err != nil {
		return nil, err
	}
	return process.Start(c.life, process.Command{Path: c.self[0], Args: args, Name: name, Dir: c.dir, Output: log})
}

// watch ends the demo if child ends before it is asked to.
func (c *company) watch(child *process.Child) {
	<-child.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		err := child.Wait(context.Background())
		c.fail(fmt.Errorf("a process of the demo has ended: %w", errors.Join(err, errors.New("nothing works without it"))))
	}
}

func (c *company) tally() string { return filepath.Join(c.dir, "tally.txt") }

func (c *company) log(name string) (io.Writer, error) {
	return os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// close ends all processes, those first that use others, and removes the folder.
func (c *company) close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	stopAll(c.workers)
	stopAll(c.other)
	if c.client != nil {
		c.client.Close()
	}
	if c.temporal != nil {
		_ = c.temporal.Stop()
	}
	c.end()
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// stopAll stops children at the same time. How they end does not matter any more.
func stopAll(children []*process.Child) {
	var all sync.WaitGroup
	for _, child := range children {
		all.Go(func() { _ = child.Stop() })
	}
	all.Wait()
}
