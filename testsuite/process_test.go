package testsuite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/internal/process"
)

// processEnv turns the test binary into a worker process: it holds a plan as JSON.
const processEnv = "EFFECTONCE_TESTSUITE_PROCESS"

// plan is what a worker process does.
type plan struct {
	Address, Namespace, Queue string
	Provider                  string // URL
	Store                     string // URL
	Halt                      halt
	Passing                   int64  // so many steps of that kind pass before it halts
	Halted                    string // a file that says that it has halted
	Policy                    string // as in crashing, or transactionalProcess
}

// halt is where a worker process stops doing anything at all, until it is killed.
type halt string

const (
	beforeEffect halt = "before effect" // claimed, and nothing done
	beforeRecord halt = "before record" // the effect happened, nobody wrote it down
	afterRecord  halt = "after record"  // it is written down, Temporal has not heard
)

// killed starts a worker process, lets begin give it something to do, and kills it
// with SIGKILL at the point where it halts.
func (l *lab) killed(p plan, begin func()) {
	l.t.Helper()
	p.Address, p.Namespace, p.Queue, p.Provider = l.address, l.namespace, l.queue, l.providerURL
	p.Halted = filepath.Join(l.t.TempDir(), "halted")
	text, err := json.Marshal(p)
	require.NoError(l.t, err)
	self, err := os.Executable()
	require.NoError(l.t, err)
	child, err := process.Start(context.Background(), process.Command{Path: self, Env: []string{processEnv + "=" + string(text)}})
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = child.Stop() })
	begin()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	require.NoError(l.t, child.Until(ctx, func(context.Context) error {
		_, err := os.Stat(p.Halted)
		return err
	}))
	child.Kill()
}

// processMain is the worker process.
func processMain(text string) {
	if err := processRun(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func processRun(text string) error {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	if p.Policy == transactionalProcess {
		return postingMain(p)
	}
	s, _, err := openStore(context.Background(), p.Store)
	if err != nil {
		return err
	}
	d := newDesk(p.Provider)
	stop := faulty.Do(func() {
		if err := os.WriteFile(p.Halted, nil, 0o600); err != nil {
			panic(err)
		}
		select {}
	})
	var passed atomic.Int64
	halting := map[halt]faulty.Fault{
		beforeEffect: faulty.After(faulty.Claim, stop),
		beforeRecord: faulty.Before(faulty.Report, stop),
		afterRecord:  faulty.After(faulty.Report, stop),
	}
	fault := halting[p.Halt].If(func(faulty.Call) bool { return passed.Add(1) > p.Passing })
	plugin, err := interceptor.NewPlugin(faulty.Wrap(s, fault), crashing(d, p.Policy))
	if err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: p.Address, Namespace: p.Namespace, Plugins: []client.Plugin{plugin}, Logger: quiet})
	if err != nil {
		return err
	}
	w := sdkworker.New(c, p.Queue, sdkworker.Options{DisableWorkflowWorker: true})
	register(w, map[string]any{"Charge": d.Charge, "Batch": d.Batch})
	return w.Run(nil) // until it is killed
}
