// Package services starts the real servers that tests need.
//
//	func TestMain(m *testing.M) { services.Main(m) }
//
//	func TestOnPostgres(t *testing.T) {
//		pool, err := pgxpool.New(t.Context(), services.Postgres(t))
//		…
//	}
//
// # What is promised
//
// One server of a kind serves a whole test binary and is started by the first
// test that asks. What a test is given is its own: a fresh database each time. (A
// pooler is one test's: [PgBouncer].)
// A Temporal server has one namespace for all, so tests there use workflow IDs
// and task queues of their own. The servers end with the test binary, on Linux
// even when it is killed.
//
// # Servers that run already
//
// EFFECTONCE_TEST_POSTGRES (a postgres:// address whose user may create
// databases), EFFECTONCE_TEST_REDIS (a redis:// address) and EFFECTONCE_TEST_TEMPORAL
// (host:port, with the namespace in EFFECTONCE_TEST_TEMPORAL_NAMESPACE, "default" if
// empty), and the same with TEMPORAL132 for [Temporal132], are used instead of private servers. PostgreSQL's databases are removed there
// too when their test ends; the namespace and the database of Redis are shared, so
// workflow IDs and keys have to differ from run to run.
//
// # Nothing to start
//
// Where a server's program is missing, the test is skipped with the reason. With
// REQUIRE_SERVICES=1 it fails, as does in any case a server that is there and
// does not start.
package services
