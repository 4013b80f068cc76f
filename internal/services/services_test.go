package services_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/internal/services"
)

func TestMain(m *testing.M) { services.Main(m) }

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}

func TestPostgres(t *testing.T) {
	t.Parallel()

	t.Run("EachCallGivesADatabaseOfItsOwn", func(t *testing.T) {
		t.Parallel()
		for range 2 { // the second would fail in the first one's database
			connection := connect(t, services.Postgres(t))
			_, err := connection.Exec(t.Context(), "CREATE TABLE record (key bytea PRIMARY KEY)")
			require.NoError(t, err)
		}
	})

	t.Run("IsDroppedAfterTheTestEvenWhileConnected", func(t *testing.T) {
		t.Parallel()
		var name string
		t.Run("test", func(t *testing.T) {
			connection, err := pgx.Connect(t.Context(), services.Postgres(t)) // never closed
			require.NoError(t, err)
			require.NoError(t, connection.QueryRow(t.Context(), "SELECT current_database()").Scan(&name))
		})
		var left int
		require.NoError(t, connect(t, services.Postgres(t)).QueryRow(t.Context(),
			"SELECT count(*) FROM pg_database WHERE datname = $1", name).Scan(&left))
		assert.Zero(t, left, "database %s is still there", name)
	})

	t.Run("WritesAreDurable", func(t *testing.T) {
		t.Parallel()
		connection := connect(t, services.Postgres(t))
		for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			var value string
			require.NoError(t, connection.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&value))
			assert.Equal(t, "on", value, setting)
		}
	})

	t.Run("WrongPasswordIsRefused", func(t *testing.T) {
		t.Parallel()
		config, err := pgx.ParseConfig(services.Postgres(t))
		require.NoError(t, err)
		if os.Getenv("EFFECTONCE_TEST_POSTGRES") != "" {
			t.Log("an outside server decides itself whom it lets in")
			return
		}
		config.Password += "?"
		_, err = pgx.ConnectConfig(t.Context(), config)
		assert.ErrorContains(t, err, "password authentication failed")
	})
}

// A pooler in transaction mode gives each transaction any connection it has.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	database := services.Postgres(t)
	through := services.PgBouncer(t, database, "default_pool_size = 1")
	require.NotEqual(t, database, through)
	var pids [2]int
	for i := range pids {
		config, err := pgx.ParseConfig(through)
		require.NoError(t, err)
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		connection, err := pgx.ConnectConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close(context.Background()) })
		require.NoError(t, connection.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pids[i]))
	}
	assert.Equal(t, pids[0], pids[1])
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	for name, fresh := range map[string]func(testing.TB) (string, string){
		"AWorkflowRunsAtOnceInTheFreshNamespace": services.Temporal, "AndOnServer132": services.Temporal132,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, namespace := fresh(t)
			temporal, err := client.Dial(client.Options{HostPort: address, Namespace: namespace})
			require.NoError(t, err)
			defer temporal.Close()
			id := "services-" + rand.Text()
			w := worker.New(temporal, id, worker.Options{})
			w.RegisterWorkflowWithOptions(func(workflow.Context) (string, error) { return "done", nil },
				workflow.RegisterOptions{Name: "answer"})
			require.NoError(t, w.Start())
			defer w.Stop()
			run, err := temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: id}, "answer")
			require.NoError(t, err)
			var answer string
			require.NoError(t, run.Get(t.Context(), &answer))
			assert.Equal(t, "done", answer)
		})
	}

	t.Run("Server132IsWhatItIsCalled", func(t *testing.T) {
		t.Parallel()
		address, _ := services.Temporal132(t)
		temporal, err := client.Dial(client.Options{HostPort: address})
		require.NoError(t, err)
		defer temporal.Close()
		info, err := temporal.WorkflowService().GetSystemInfo(t.Context(), &workflowservice.GetSystemInfoRequest{})
		require.NoError(t, err)
		assert.Equal(t, "1.32.1", info.GetServerVersion())
	})

	t.Run("OneServerForAllButANamespaceForEach", func(t *testing.T) {
		t.Parallel()
		if os.Getenv("EFFECTONCE_TEST_TEMPORAL") != "" {
			return // an outside server has one namespace for all
		}
		seen := map[string]bool{}
		first, _ := services.Temporal(t)
		for range 60 { // more than the server takes at a time
			address, namespace := services.Temporal(t)
			assert.Equal(t, first, address)
			assert.False(t, seen[namespace], "%s was given twice", namespace)
			seen[namespace] = true
		}
	})
}

// The rest runs this test binary again, as a test binary that asks for servers
// and then ends in one way or another.

const helperEnv = "SERVICES_TEST_HELPER"

// report is what the helper says about its servers.
type report struct {
	Processes []int
	Folders   []string
}

func TestHelper(t *testing.T) {
	mode := os.Getenv(helperEnv)
	switch mode {
	case "":
		return // not a helper
	case "temporal":
		services.Temporal(t)
		return
	case "temporal132":
		services.Temporal132(t)
		return
	}
	services.Postgres(t)
	services.Redis(t)
	services.Temporal(t)
	services.Temporal132(t)
	text, err := json.Marshal(report{services.Processes(), services.Folders()})
	require.NoError(t, err)
	fmt.Printf("report %s\n", text)
	if mode == "hang" {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

func helper(t *testing.T, mode string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, helperEnv+"="+mode,
		// Private servers, whatever this test binary uses.
		"EFFECTONCE_TEST_POSTGRES=", "EFFECTONCE_TEST_REDIS=", "EFFECTONCE_TEST_TEMPORAL=", "EFFECTONCE_TEST_TEMPORAL132=")...)
	return cmd
}

func readReport(t *testing.T, output io.Reader) report {
	t.Helper()
	var r report
	lines := bufio.NewScanner(output)
	var all strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if text, ok := strings.CutPrefix(lines.Text(), "report "); ok {
			require.NoError(t, json.Unmarshal([]byte(text), &r))
			require.Len(t, r.Processes, 4)
			require.NotEmpty(t, r.Folders)
			return r
		}
	}
	require.Fail(t, "the helper gave no report", "it said:\n%s", all.String())
	return r
}

// needServers skips as the helper would.
func needServers(t *testing.T) {
	t.Helper()
	services.Postgres(t)
	services.RedisProgram(t)
	services.TemporalCLI(t)
	services.Temporal132(t)
}

func TestServersEndWithTheTests(t *testing.T) {
	t.Parallel()
	needServers(t)
	output, err := helper(t, "end").CombinedOutput()
	require.NoError(t, err, "%s", output)
	r := readReport(t, strings.NewReader(string(output)))
	for _, pid := range r.Processes {
		assertGone(t, pid)
	}
	for _, folder := range r.Folders {
		assert.NoDirExists(t, folder)
	}
}

func TestServersEndWhenTheTestBinaryIsKilled(t *testing.T) {
	t.Parallel()
	services.NeedsDeathSignal(t)
	needServers(t)
	cmd := helper(t, "hang")
	hold, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = hold.Close() }()
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := readReport(t, output)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, pid := range r.Processes {
		assertGone(t, pid)
	}
	for _, folder := range r.Folders {
		assert.DirExists(t, folder, "a killed test binary cannot remove its folders")
	}
	services.RemoveAbandoned()
	for _, folder := range r.Folders {
		assert.NoDirExists(t, folder, "the next one does")
	}
	for _, folder := range services.Folders() {
		assert.DirExists(t, folder, "this test binary's own folder is in use")
	}
}

func TestMissingServer(t *testing.T) {
	t.Parallel()
	nothing := t.TempDir()
	bare := []string{"PATH=" + nothing, "HOME=" + nothing, "XDG_CACHE_HOME=" + nothing, "TEMPORAL_CLI="}

	t.Run("IsSkippedWithTheReason", func(t *testing.T) {
		t.Parallel()
		output, err := helper(t, "temporal", append(bare, "REQUIRE_SERVICES=")...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		assert.Contains(t, string(output), "--- SKIP: TestHelper")
		assert.Contains(t, string(output), "no usable Temporal CLI found (make deps builds it)")

		output, err = helper(t, "temporal132", append(bare, "REQUIRE_SERVICES=")...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		assert.Contains(t, string(output), "--- SKIP: TestHelper")
		assert.Contains(t, string(output), "there is no Temporal server 1.32.1 (make deps builds it)")
	})

	t.Run("IsAFailureWhereServicesAreRequired", func(t *testing.T) {
		t.Parallel()
		output, err := helper(t, "temporal", append(bare, "REQUIRE_SERVICES=1")...).CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(output), "--- FAIL: TestHelper")
	})

	t.Run("ThatIsNamedAndUnusableIsAFailure", func(t *testing.T) {
		t.Parallel()
		named := filepath.Join(nothing, "temporal")
		output, err := helper(t, "temporal", append(bare, "TEMPORAL_CLI="+named, "REQUIRE_SERVICES=")...).CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(output), "TEMPORAL_CLI="+named)
	})
}

func assertGone(t *testing.T, pid int) {
	t.Helper()
	assert.Eventually(t, func() bool { return services.Gone(pid) }, 20*time.Second, 10*time.Millisecond,
		"process %d still runs", pid)
}
