package arch_test

// A rule says what the non-test files of some packages may import. Names are
// folders of this repository, "." is the root package, and "x/..." is x and all
// below it. The standard library is always allowed.
type rule struct {
	of string

	// ours are the packages of this repository that may be imported directly.
	ours []string

	// others are the modules that may be imported directly, by path prefix.
	others []string

	// never are packages of this repository that must not be reached at all, not
	// through others of ours either.
	never []string

	// tests lets the packages import test packages, because only tests use them.
	tests bool
}

var (
	temporal = []string{"go.temporal.io/sdk", "go.temporal.io/api", "google.golang.org/protobuf"}
	backends = []string{"store/memory/...", "store/sqlite/...", "store/postgres/...", "store/redis/...", "store/dynamodb/..."}
	contract = []string{"store", "key"}
	anything = []string{"..."}
)

// rules holds for every package the first rule that names it. A package that no
// rule names is an error: whoever adds one decides where it belongs.
var rules = []rule{
	{of: "canon/...", ours: []string{"canon/..."}},
	{of: "key/...", ours: []string{"canon"}},
	{of: "store", ours: []string{"key"}},

	{of: "store/memory/...", ours: contract},
	{of: "store/sqlite/...", ours: append([]string{"internal/commit"}, contract...), others: []string{"modernc.org/sqlite"}},
	{of: "store/postgres/...", ours: append([]string{"internal/commit", "internal/outlive"}, contract...), others: []string{"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"}},
	{of: "store/redis/...", ours: contract, others: []string{"github.com/redis/go-redis/v9"}},
	{of: "store/dynamodb/...", ours: contract, others: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}},
	{of: "store/storetest/...", ours: contract, others: anything, never: backends, tests: true},

	{
		of: ".", ours: []string{"canon", "key", "internal/..."}, others: temporal,
		never: append([]string{"interceptor/..."}, backends...),
	},
	{
		of: "interceptor/...", ours: []string{".", "canon", "key", "store", "interceptor/...", "internal/..."},
		others: append([]string{"github.com/google/uuid"}, temporal...), never: backends,
	},
	{of: "otel", ours: []string{"interceptor"}, others: []string{"go.opentelemetry.io/otel"}},
	{
		of: "activities/...", ours: []string{".", "activities/...", "internal/provider"}, others: temporal,
		never: []string{"interceptor/...", "store/..."},
	},
	{
		of: "workflows/...", ours: []string{".", "activities/...", "workflows/..."}, others: temporal,
		never: []string{"interceptor/...", "store/..."},
	},

	{of: "testsuite/...", ours: anything, others: anything, never: []string{"worker/...", "cmd/..."}, tests: true},
	{of: "internal/services/...", ours: []string{"internal/..."}, others: anything, tests: true},
	{of: "internal/server132", others: []string{"go.temporal.io/server"}, tests: true},
	{of: "internal/...", ours: anything, others: anything, never: []string{"worker/...", "cmd/...", "internal/services/..."}},
	{of: "worker/...", ours: anything, others: anything, never: []string{"internal/services/...", "testsuite/..."}},
	{
		// The operator's command line needs no Temporal.
		of: "cmd/...", ours: anything, others: anything,
		never: []string{"interceptor/...", "worker/...", "internal/services/...", "testsuite/..."},
	},
}
