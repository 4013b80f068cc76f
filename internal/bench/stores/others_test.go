package stores

import (
	"context"
	"testing"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"
)

// dbos runs steps of workflows, one workflow for each caller. Beginning and ending
// the workflow is not counted. DBOS writes down what a step returned, and does not
// claim it before.
func (d *database) dbos(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	app, err := dbos.NewContext(tb.Context(), dbos.Config{AppName: "bench", SystemDBPool: pool, Logger: quiet})
	require.NoError(tb, err)
	turns := make(chan *turn, 1024)
	steps := func(ctx dbos.Context, _ string) (string, error) {
		t := <-turns
		for t.next() {
			if _, err := dbos.RunAsStep(ctx, func(context.Context) ([]byte, error) { return result, nil }); err != nil {
				return "", err
			}
		}
		return "", nil
	}
	dbos.RegisterWorkflow(app, steps)
	require.NoError(tb, dbos.Launch(app))
	tb.Cleanup(func() { _ = dbos.Shutdown(app, 5*time.Second) })
	return way{
		name: "DBOS step", does: "DBOS Go, a step of a workflow: its result is written down afterwards, there is no claim before",
		server: d.server, trips: trips,
		do: func(_ context.Context, t *turn) error {
			turns <- t
			run, err := dbos.RunWorkflow(app, steps, "")
			if err == nil {
				_, err = run.GetResult()
			}
			return err
		},
	}
}

type job struct {
	Key  string `json:"key" river:"unique"`
	Data []byte `json:"data"`
}

func (job) Kind() string { return "action" }

// river inserts unique jobs, and works none.
func (d *database) river(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	require.NoError(tb, err)
	_, err = migrator.Migrate(tb.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(tb, err)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet})
	require.NoError(tb, err)
	return way{
		name: "River insert", does: "River, the insertion of a unique job: nothing is completed",
		server: d.server, trips: trips,
		do: each(func(ctx context.Context) error {
			q := request()
			inserted, err := client.Insert(ctx, job{Key: q.WorkflowID + "/" + q.RunID, Data: result},
				&river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}})
			if err == nil && inserted.UniqueSkippedAsDuplicate {
				err = once(1, 0, "insertion")
			}
			return err
		}),
	}
}
