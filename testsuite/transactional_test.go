package testsuite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkinterceptor "go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	sdktest "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/sqlite"
)

// The activity Post writes a row into a table beside the records, and commits that and
// its outcome in one transaction.

// book is that table, with the records' store.
type book struct {
	store store.Store
	begin func(context.Context) (page, error)
	rows  func(context.Context) (int, error)
	pool  *pgxpool.Pool // PostgreSQL only
}

// page is an open transaction.
type page interface {
	post(context.Context, order) error
	commit(context.Context, any) error
	rollback()
}

type postgresPage struct {
	pgx.Tx
	records *postgres.Store
}

func (p postgresPage) post(ctx context.Context, in order) error {
	_, err := p.Exec(ctx, "INSERT INTO postings VALUES ($1, $2)", in.ID, in.Cents)
	return err
}
func (p postgresPage) commit(ctx context.Context, result any) error {
	return p.records.CommitTx(ctx, p.Tx, result)
}
func (p postgresPage) rollback() { _ = p.Rollback(context.Background()) }

type sqlitePage struct {
	*sql.Tx
	records *sqlite.Store
}

func (p sqlitePage) post(ctx context.Context, in order) error {
	_, err := p.ExecContext(ctx, "INSERT INTO postings VALUES ($1, $2)", in.ID, in.Cents)
	return err
}
func (p sqlitePage) commit(ctx context.Context, result any) error {
	return p.records.CommitTx(ctx, p.Tx, result)
}
func (p sqlitePage) rollback() { _ = p.Rollback() }

const makePostings = "CREATE TABLE IF NOT EXISTS postings (id BIGINT, cents BIGINT)"

// openBook opens the book of a URL, in this process or another.
func openBook(ctx context.Context, url string) (*book, func() error, error) {
	s, closeStore, err := openStore(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	b := &book{store: s}
	switch s := s.(type) {
	case *sqlite.Store:
		_, err = s.DB().ExecContext(ctx, makePostings)
		b.begin = func(ctx context.Context) (page, error) {
			tx, err := s.DB().BeginTx(ctx, nil)
			return sqlitePage{tx, s}, err
		}
		b.rows = func(ctx context.Context) (n int, err error) {
			return n, s.DB().QueryRowContext(ctx, "SELECT count(*) FROM postings").Scan(&n)
		}
	case *postgres.Store:
		if b.pool, err = pgxpool.New(ctx, url); err != nil {
			break
		}
		_, err = b.pool.Exec(ctx, makePostings)
		b.begin = func(ctx context.Context) (page, error) {
			tx, err := b.pool.Begin(ctx)
			return postgresPage{tx, s}, err
		}
		b.rows = func(ctx context.Context) (n int, err error) {
			return n, b.pool.QueryRow(ctx, "SELECT count(*) FROM postings").Scan(&n)
		}
	}
	return b, func() error {
		if b.pool != nil {
			b.pool.Close()
		}
		return closeStore()
	}, err
}

// posting is what the activity returns: which run of the body it was.
type posting struct {
	Run int `json:"run"`
}

// clerk runs the activity Post, and counts the runs of its body.
type clerk struct {
	*book
	t      *testing.T
	policy interceptor.Policy
	body   func(ctx context.Context, run int, in order) (posting, error)
	runs   atomic.Int64
	logged lines
	told   lines // decisions
}

// lines can be written by many.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// onBooks runs a test on every store that has the power.
func onBooks(t *testing.T, test func(t *testing.T, c *clerk)) {
	t.Parallel()
	for name, fresh := range durable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, closeBook, err := openBook(t.Context(), fresh(t))
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, closeBook()) })
			c := &clerk{book: b, t: t, policy: interceptor.Policy{Scope: effectonce.Namespace, Unknown: interceptor.Transactional()}}
			c.body = c.post
			test(t, c)
		})
	}
}

// post is the body as it should be.
func (b *book) post(ctx context.Context, run int, in order) (posting, error) {
	tx, err := b.begin(ctx)
	if err != nil {
		return posting{}, err
	}
	defer tx.rollback()
	if err := tx.post(ctx, in); err != nil {
		return posting{}, err
	}
	return posting{run}, tx.commit(ctx, posting{run})
}

func (c *clerk) Post(ctx context.Context, in order) (posting, error) {
	return c.body(ctx, int(c.runs.Add(1)), in)
}

// attempt is one attempt, at any of the clerk's workers; with s instead of its store.
func (c *clerk) attempt(s store.Store) (out posting, err error) {
	ic, err := interceptor.New(s, interceptor.Options{
		Policies: map[string]interceptor.Policy{"Post": c.policy}, DataConverter: converter.GetDefaultDataConverter(), Lease: time.Second,
		OnDecision: func(_ context.Context, d interceptor.Decision) { _, _ = io.WriteString(&c.told, d.Kind+" ") },
	})
	require.NoError(c.t, err)
	return c.without(ic)
}

// without is an attempt with these interceptors only.
func (c *clerk) without(ics ...sdkinterceptor.WorkerInterceptor) (out posting, err error) {
	var suite sdktest.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(&c.logged, nil))))
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(patience)
	env.SetWorkerOptions(sdkworker.Options{Interceptors: ics})
	env.RegisterActivityWithOptions(c.Post, activity.RegisterOptions{Name: "Post"})
	value, err := env.ExecuteActivity("Post", order{ID: 7, Cents: 500})
	if err != nil {
		return out, err
	}
	return out, value.Get(&out)
}

// came wants this many rows and bodies, and these decisions.
func (c *clerk) came(rows, runs int, decisions string) {
	c.t.Helper()
	n, err := c.rows(c.t.Context())
	require.NoError(c.t, err)
	assert.Equal(c.t, rows, n, "rows")
	assert.EqualValues(c.t, runs, c.runs.Load(), "bodies")
	assert.Equal(c.t, decisions, strings.TrimSpace(c.told.String()))
}

func (c *clerk) story() (verbs []store.Verb) {
	found, err := c.store.(store.Lister).List(c.t.Context(), store.Filter{})
	require.NoError(c.t, err)
	require.Len(c.t, found, 1)
	entries, err := c.store.(store.Historian).History(c.t.Context(), found[0].Ref)
	require.NoError(c.t, err)
	for _, e := range entries {
		verbs = append(verbs, e.Verb)
	}
	return verbs
}

func TestTransactional_TwentyDuplicatesAreOneRow(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				out, err := c.attempt(c.store)
				assert.NoError(t, err)
				assert.Equal(t, posting{1}, out)
			})
		}
		all.Wait()
		n, err := c.rows(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.EqualValues(t, 1, c.runs.Load())
		assert.Equal(t, []store.Verb{store.Claimed, store.Complete}, c.story(), "and the outcome is written once")
	})
}

// What the body does after the commit changes nothing any more.
func TestTransactional_WhatIsCommittedIsHandedOutWhateverTheBodyReturns(t *testing.T) {
	boom := errors.New("boom")
	for name, end := range map[string]func() (posting, error){
		"AnotherResult": func() (posting, error) { return posting{99}, nil },
		"AnError":       func() (posting, error) { return posting{}, boom },
		"NotApplied":    func() (posting, error) { return posting{}, effectonce.NotApplied(boom) },
		"Pending":       func() (posting, error) { return posting{}, activity.ErrResultPending },
		"APanic":        func() (posting, error) { panic("boom") },
	} {
		for policy, unknown := range map[string]interceptor.Unknown{"Transactional": interceptor.Transactional(), "Hold": interceptor.Hold()} {
			t.Run(name+"/"+policy, func(t *testing.T) {
				onBooks(t, func(t *testing.T, c *clerk) {
					c.policy.Unknown = unknown
					c.body = func(ctx context.Context, run int, in order) (posting, error) {
						if _, err := c.post(ctx, run, in); err != nil {
							return posting{}, err
						}
						return end()
					}
					out, err := c.attempt(c.store)
					if name == "APanic" {
						require.ErrorContains(t, err, "boom")
						c.came(1, 1, "run")
					} else {
						require.NoError(t, err)
						require.Equal(t, posting{1}, out)
						c.came(1, 1, "run")
					}
					out, err = c.attempt(c.store)
					require.NoError(t, err)
					require.Equal(t, posting{1}, out)
					c.came(1, 1, "run replay")
					require.Equal(t, []store.Verb{store.Claimed, store.Complete}, c.story())
				})
			})
		}
	}
}

func TestTransactional_AFailureBeforeTheCommitRunsAgainAtOnce(t *testing.T) {
	boom := errors.New("boom")
	for name, end := range map[string]func(run int) error{
		"AnError": func(int) error { return boom },
		"Unknown": func(int) error { return effectonce.Unknown(boom) },
		"APanic":  func(int) error { panic("boom") },
		"NotApplied": func(run int) error {
			if run == 1 {
				return effectonce.Unknown(boom)
			}
			return effectonce.NotApplied(boom)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBooks(t, func(t *testing.T, c *clerk) {
				c.body = func(ctx context.Context, run int, in order) (posting, error) {
					if run > 2 {
						return c.post(ctx, run, in)
					}
					tx, err := c.begin(ctx)
					require.NoError(t, err)
					defer tx.rollback()
					require.NoError(t, tx.post(ctx, in))
					return posting{}, end(run)
				}
				_, err := c.attempt(c.store)
				require.ErrorContains(t, err, "boom")
				_, err = c.attempt(c.store)
				require.ErrorContains(t, err, "boom")
				if name == "NotApplied" { // what came before need not settle
					require.NotEqual(t, effectonce.ErrTypeUnknown, application(t, err).Type())
				}
				out, err := c.attempt(c.store)
				require.NoError(t, err)
				require.Equal(t, posting{3}, out)
				n, err := c.rows(t.Context())
				require.NoError(t, err)
				require.Equal(t, 1, n)
			})
		})
	}
}

// unrenewed is a store whose renewals get lost.
type unrenewed struct {
	store.Store
	store.Transactor
}

func (unrenewed) Renew(context.Context, time.Duration, []store.Claim) ([]store.Claim, error) {
	return nil, io.ErrUnexpectedEOF
}

func TestTransactional_AnAttemptThatWasTakenOverCannotCommit(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		started, takenOver := make(chan bool), make(chan bool)
		c.body = func(ctx context.Context, run int, in order) (posting, error) {
			if run > 1 {
				return c.post(ctx, run, in)
			}
			var tx page
			begin := func() {
				var err error
				tx, err = c.begin(ctx)
				require.NoError(t, err)
				require.NoError(t, tx.post(ctx, in))
			}
			if c.pool != nil { // while one is open in SQLite, nobody takes over
				begin()
			}
			close(started)
			<-takenOver
			if tx == nil {
				begin()
			}
			err := tx.commit(ctx, posting{run})
			assert.ErrorIs(t, err, store.ErrLeaseLost)
			return posting{run}, err
		}
		late := make(chan posting)
		go func() {
			out, err := c.attempt(unrenewed{c.store, c.store.(store.Transactor)})
			assert.NoError(t, err, "it hands out the winner's outcome")
			late <- out
		}()
		<-started
		out, err := c.attempt(c.store)
		require.NoError(t, err)
		require.Equal(t, posting{2}, out)
		close(takenOver)
		require.Equal(t, posting{2}, <-late)
		c.came(1, 2, "run wait take_over run replay")
	})
}

// A body that does not look at what CommitTx says has not succeeded.
func TestTransactional_ASuccessWhoseCommitFailedIsAFailure(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		c.policy.Veto = func(result any) error {
			if result == (posting{1}) {
				return errors.New("vetoed")
			}
			return nil
		}
		c.body = func(ctx context.Context, run int, in order) (posting, error) {
			_, _ = c.post(ctx, run, in)
			return posting{run + 10}, nil
		}
		_, err := c.attempt(c.store)
		require.ErrorContains(t, err, "vetoed")
		require.Contains(t, c.logged.String(), "although CommitTx failed")
		out, err := c.attempt(c.store)
		require.NoError(t, err)
		require.Equal(t, posting{2}, out)
		c.came(1, 2, "run run")
	})
}

func TestTransactional_AResultThatCannotBeHandedOutIsNotCommitted(t *testing.T) {
	for name, test := range map[string]struct {
		result any
		says   string
	}{
		"NotEncodable": {func() {}, "cannot be encoded"},
		"TooLarge":     {strings.Repeat("x", 3<<20), "exceeds the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			onBooks(t, func(t *testing.T, c *clerk) {
				c.body = func(ctx context.Context, _ int, in order) (posting, error) {
					tx, err := c.begin(ctx)
					require.NoError(t, err)
					require.NoError(t, tx.post(ctx, in))
					return posting{}, tx.commit(ctx, test.result)
				}
				_, err := c.attempt(c.store)
				require.ErrorContains(t, err, test.says)
				c.came(0, 1, "run")
				require.Equal(t, []store.Verb{store.Claimed, store.Release}, c.story())
			})
		})
	}
}

func TestTransactional_WithoutCommitTxIsRecordedAndLogged(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		c.body = func(_ context.Context, run int, _ order) (posting, error) { return posting{run}, nil }
		for range 2 {
			out, err := c.attempt(c.store)
			require.NoError(t, err)
			require.Equal(t, posting{1}, out)
		}
		c.came(0, 1, "run replay")
		require.Contains(t, c.logged.String(), "level=ERROR")
		require.Contains(t, c.logged.String(), "returned without CommitTx")
		require.Contains(t, c.logged.String(), "activity=Post")
	})
}

func TestTransactional_WithoutTheInterceptorTheBodyRuns(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		out, err := c.without()
		require.NoError(t, err)
		require.Equal(t, posting{1}, out)
		c.came(1, 1, "")
	})
}

// A part of a body can be such a transaction too.
func TestTransactional_ASubEffectCommitsItsOwnOutcome(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		c.policy.Unknown, c.policy.SubEffects = interceptor.Rerun(), map[string]interceptor.Unknown{"post": interceptor.Transactional()}
		c.body = func(ctx context.Context, run int, in order) (posting, error) {
			out, err := effectonce.Do(ctx, "post", in, func(ctx context.Context) (posting, error) { return c.post(ctx, run, in) })
			if run == 1 && err == nil {
				err = errors.New("boom")
			}
			return out, err
		}
		_, err := c.attempt(c.store)
		require.ErrorContains(t, err, "boom")
		out, err := c.attempt(c.store)
		require.NoError(t, err)
		require.Equal(t, posting{1}, out)
		c.came(1, 2, "run run run replay")
		require.NotContains(t, c.logged.String(), "without CommitTx")
	})
}

// cuttable is a connection whose next answer can be lost.
type cuttable struct {
	net.Conn
	cut *atomic.Bool
}

func (c cuttable) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.cut.Swap(false) {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// interrupted is a transaction to whose commit something happens.
type interrupted struct {
	pgx.Tx
	before func()
}

func (i interrupted) Commit(ctx context.Context) error {
	i.before()
	return i.Tx.Commit(ctx)
}

func TestTransactional_CommitWhoseAnswerIsLostIsSettledFromTheRecord(t *testing.T) {
	onBooks(t, func(t *testing.T, c *clerk) {
		if c.pool == nil {
			return // no answer of SQLite can be lost but by a crash
		}
		var cut atomic.Bool
		config := c.pool.Config()
		dial := config.ConnConfig.DialFunc
		config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return cuttable{conn, &cut}, err
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		var lost error
		interrupt := func(before func(pgx.Tx)) {
			c.body = func(ctx context.Context, run int, in order) (posting, error) {
				tx, err := pool.Begin(ctx)
				require.NoError(t, err)
				p := postgresPage{interrupted{tx, func() { before(tx) }}, c.store.(*postgres.Store)}
				defer p.rollback()
				require.NoError(t, p.post(ctx, in))
				lost = p.commit(ctx, posting{run})
				return posting{}, lost
			}
		}

		interrupt(func(tx pgx.Tx) { // the server is gone before it commits
			_, err := c.pool.Exec(t.Context(), "SELECT pg_terminate_backend($1, 10000)", tx.Conn().PgConn().PID())
			require.NoError(t, err)
		})
		_, err = c.attempt(c.store)
		require.Error(t, lost)
		require.ErrorContains(t, err, "commit eo1_")
		c.came(0, 1, "run")

		interrupt(func(pgx.Tx) { cut.Store(true) }) // it commits, and nobody hears of it
		out, err := c.attempt(c.store)
		require.Error(t, lost)
		require.NotErrorIs(t, lost, store.ErrLeaseLost)
		require.NoError(t, err)
		require.Equal(t, posting{2}, out)
		c.came(1, 2, "run run replay")

		out, err = c.attempt(c.store)
		require.NoError(t, err)
		require.Equal(t, posting{2}, out)
		c.came(1, 2, "run run replay replay")
	})
}

const (
	beforeCommit halt = "before commit" // the rows are written, and nothing is committed
	afterCommit  halt = "after commit"  // nobody but the database knows
)

// postingOptions are those of a worker that is killed and of the one after it.
func postingOptions() interceptor.Options {
	return settled(map[string]interceptor.Policy{"Post": {Scope: effectonce.Run, Unknown: interceptor.Transactional()}})
}

// postingMain is a worker process that halts.
func postingMain(p plan) error {
	b, _, err := openBook(context.Background(), p.Store)
	if err != nil {
		return err
	}
	plugin, err := interceptor.NewPlugin(b.store, postingOptions())
	if err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: p.Address, Namespace: p.Namespace, Plugins: []client.Plugin{plugin}, Logger: quiet})
	if err != nil {
		return err
	}
	w := sdkworker.New(c, p.Queue, sdkworker.Options{DisableWorkflowWorker: true})
	register(w, map[string]any{"Post": func(ctx context.Context, in order) (posting, error) {
		if p.Halt == afterCommit {
			if _, err := b.post(ctx, 1, in); err != nil {
				return posting{}, err
			}
		} else {
			tx, err := b.begin(ctx)
			if err != nil {
				return posting{}, err
			}
			if err := tx.post(ctx, in); err != nil {
				return posting{}, err
			}
		}
		if err := os.WriteFile(p.Halted, nil, 0o600); err != nil {
			return posting{}, err
		}
		select {}
	}})
	return w.Run(nil) // until it is killed
}

// A worker process is killed with SIGKILL around the commit; another worker goes on.
func TestTransactional_WorkerKilled(t *testing.T) {
	t.Parallel()
	for name, fresh := range durable {
		for at, want := range map[halt]struct{ bodies, run int }{beforeCommit: {1, 100}, afterCommit: {0, 1}} {
			t.Run(name+"/"+string(at), func(t *testing.T) {
				t.Parallel()
				url := fresh(t)
				b, closeBook, err := openBook(t.Context(), url)
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, closeBook()) })
				l := newLab(t, on(b.store))
				l.work(setup{options: postingOptions(), worker: workflowsOnly, workflows: map[string]any{
					"main": func(ctx workflow.Context, in order) (out posting, err error) {
						err = workflow.ExecuteActivity(calling(ctx, 3*time.Second, 0), "Post", in).Get(ctx, &out)
						return out, err
					},
				}})
				var run client.WorkflowRun
				l.killed(plan{Store: url, Policy: transactionalProcess, Halt: at}, func() { run = l.start("main", order{ID: 7, Cents: 500}) })
				var bodies atomic.Int64
				l.work(setup{options: postingOptions(), worker: activitiesOnly, activities: map[string]any{
					"Post": func(ctx context.Context, in order) (posting, error) {
						bodies.Add(1)
						return b.post(ctx, 100, in)
					},
				}})
				assert.Equal(t, posting{want.run}, await[posting](l, run))
				assert.Equal(t, posting{want.run}, await[posting](l, l.reset(run, 1)), "and after a reset")
				assert.EqualValues(t, want.bodies, bodies.Load())
				n, err := b.rows(t.Context())
				require.NoError(t, err)
				assert.Equal(t, 1, n)
			})
		}
	}
}

// transactionalProcess is the policy of a plan whose worker runs Post.
const transactionalProcess = "Transactional"
