package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/workflows"
)

const (
	defaultTaskQueue = "effectonce-agent"

	// stopTimeout is how long activities may go on after a signal. Without it the SDK drops their
	// results, although their effects have happened.
	stopTimeout = 20 * time.Second

	envStore    = "EFFECTONCE_STORE"
	envProvider = "EFFECTONCE_PROVIDER"
)

// storeForms follows an error about the store's URL.
const storeForms = `
  sqlite:FILE                              a file for the workers of one machine, such as sqlite:effects.db
  postgres://USER:PASSWORD@HOST/DATABASE   for any number of workers
  redis://USER:PASSWORD@HOST/DATABASE      the same, where a failover of Redis may repeat an effect
  memory:                                  forgets everything when the worker ends`

// config is what the command line and the environment say.
type config struct {
	store     string
	provider  string
	taskQueue string
}

// runCommand returns the command that works. It has two names.
func runCommand(use string) *cobra.Command {
	var c config
	command := &cobra.Command{
		Use:   use,
		Short: "Connect to Temporal and work until SIGINT or SIGTERM",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			// Not as defaults of the flags: help would print a store's password.
			c.store = cmp.Or(c.store, os.Getenv(envStore))
			c.provider = cmp.Or(c.provider, os.Getenv(envProvider))
			if err := c.validate(); err != nil {
				return err
			}
			return c.run(command.Context())
		},
	}
	command.Flags().StringVar(&c.store, "store", "", "`URL` of the store: sqlite:FILE, postgres://…, redis://… or memory: ($"+envStore+")")
	command.Flags().StringVar(&c.provider, "provider", "", "`URL` of the sample provider ($"+envProvider+")")
	command.Flags().StringVar(&c.taskQueue, "task-queue", defaultTaskQueue, "`name` of the task queue to work on")
	return command
}

// validate returns everything that is missing or cannot be meant, in one error.
func (c config) validate() error {
	var faults []error
	if c.store == "" {
		faults = append(faults, fmt.Errorf("no store: set --store or %s to one of%s", envStore, storeForms))
	}
	if c.provider == "" {
		faults = append(faults, fmt.Errorf("no provider: set --provider or %s to its URL, such as http://127.0.0.1:8080 "+
			"(go run ./internal/provider/cmd/provider -listen 127.0.0.1:8080 starts one)", envProvider))
	} else if u, err := url.Parse(c.provider); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		faults = append(faults, fmt.Errorf("provider %q is not an http URL, such as http://127.0.0.1:8080", c.provider))
	}
	if c.taskQueue == "" {
		faults = append(faults, errors.New("the name of the task queue is empty"))
	}
	return errors.Join(faults...)
}

// run works until ctx is done.
func (c config) run(ctx context.Context) (err error) {
	opened, err := storeurl.Open(ctx, c.store, storeurl.Options{})
	if errors.Is(err, storeurl.ErrScheme) || errors.Is(err, storeurl.ErrSyntax) {
		return fmt.Errorf("open the store: %w; it is one of%s", err, storeForms)
	}
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()

	company := provider.NewClient(c.provider)
	plugin, err := interceptor.NewPlugin(opened.Store, interceptor.Options{Policies: policies(company)})
	if err != nil {
		return err
	}
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return fmt.Errorf("configuration of the Temporal client: %w", err)
	}
	options.Logger = log.NewStructuredLogger(slog.Default())
	options.Plugins = append(options.Plugins, plugin)
	temporal, err := client.DialContext(ctx, options)
	if err != nil {
		return fmt.Errorf("connect to Temporal at %s: %w\nIs it running? TEMPORAL_ADDRESS says where it is",
			cmp.Or(options.HostPort, client.DefaultHostPort), err)
	}
	defer temporal.Close()

	w := sdkworker.New(temporal, c.taskQueue, sdkworker.Options{WorkerStopTimeout: stopTimeout})
	workflows.Register(w)
	w.RegisterActivity(&activities.Activities{Provider: company})
	slog.Info("effectonce worker", "store", opened.Name, "provider", c.provider, "task_queue", c.taskQueue)
	return work(ctx, w, cmp.Or(options.Namespace, client.DefaultNamespace))
}

// work runs w until ctx is done, and then until its activities have ended.
func work(ctx context.Context, w sdkworker.Worker, namespace string) error {
	interrupted := make(chan any, 1)
	defer context.AfterFunc(ctx, func() { interrupted <- "signal" })()
	if err := w.Run(interrupted); err != nil {
		return fmt.Errorf("work in namespace %q: %w", namespace, err)
	}
	return nil
}
