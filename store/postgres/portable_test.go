package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
	"github.com/effectonce/effectonce/store/storetest"
)

var portable = postgres.Options{Portable: true}

// The whole contract, at the level of the engines that it is for and at PostgreSQL's
// own; and whatever is sent meanwhile is one of the statements that are listed.
func TestPortableStore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*pgxpool.Config)
	}{
		{"ReadCommitted", func(*pgxpool.Config) {}},
		{"Serializable", func(c *pgxpool.Config) {
			c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
			isolation("serializable")(c)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, pool := open(t, portable, tt.change)
			var said said
			s := newStore(t, newPool(t, pool.Config().ConnString(), tt.change, said.listen), portable)
			require.NoError(t, s.Check(t.Context()))
			t.Cleanup(func() { said.check(t, portable) })
			storetest.Run(t, func(*testing.T) store.Store { return s })
		})
	}
}

// isolation sets the default level without sending a statement.
func isolation(level string) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["default_transaction_isolation"] = level }
}

// said collects what connections send.
type said struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *said) listen(c *pgxpool.Config) { c.ConnConfig.Tracer = s }

func (s *said) add(sql string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]bool{}
	}
	s.all[sql] = true
}

func (s *said) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.add(data.SQL)
	return ctx
}

func (s *said) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *said) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		s.add(q.SQL)
	}
	return ctx
}

func (s *said) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.add(data.SQL)
}

func (s *said) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *said) TracePrepareStart(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareStartData) context.Context {
	s.add(data.SQL)
	return ctx
}

func (s *said) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// foreign are words that portable mode must not say.
var foreign = []string{
	"UNNEST", "LISTEN", "NOTIFY", "ADVISORY", "SET_CONFIG", "CURRENT_SETTING", "NEXTVAL", "SERIAL", "IDENTITY", "PARTITION", "BRIN",
	"LOCK TABLE", "FOR UPDATE", "SKIP LOCKED", "WITH ", "ISOLATION LEVEL", "SEARCH_PATH", "XMIN", "TXID", "FILLFACTOR", "ANY(", "DO $",
}

func (s *said) check(t *testing.T, opts postgres.Options) {
	listed := map[string]bool{"-- ping": true} // pgx asks a connection that was idle
	for _, sql := range postgres.PortableStatements(opts.Schema) {
		listed[sql] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for sql := range s.all {
		if !listed[sql] {
			t.Errorf("sent, and not listed: %s", sql)
		}
	}
	for sql := range listed {
		settles := strings.Contains(sql, "at = $4") // sent after a lost answer
		if !s.all[sql] && !settles && sql != "-- ping" {
			t.Errorf("listed, and never sent: %s", sql)
		}
	}
}

func TestPortableSaysNothingThatIsPostgresOnly(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("migrations/portable/00001_records_and_history.sql")
	require.NoError(t, err)
	for _, sql := range append(postgres.PortableStatements(""), string(file)) {
		for _, word := range foreign {
			require.NotContains(t, strings.ToUpper(sql), word)
		}
	}
}

// The documentation lists what may be sent, word by word.
func TestPortableStatementsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations/portable.md")
	require.NoError(t, err)
	for _, sql := range postgres.PortableStatements("") {
		sql = strings.TrimSpace(strings.ReplaceAll(sql, `"`, ""))
		require.Contains(t, string(page), fmt.Sprintf("\n%s;\n", sql))
	}
}
