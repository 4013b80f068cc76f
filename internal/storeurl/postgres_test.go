package storeurl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

// database returns the URL of a fresh database, and the URL as it may be shown.
func database(t *testing.T) (url, name string) {
	t.Helper()
	url = services.Postgres(t)
	scheme, rest, _ := strings.Cut(url, "://")
	login, host, _ := strings.Cut(rest, "@")
	user, _, _ := strings.Cut(login, ":")
	host, _, _ = strings.Cut(host, "?")
	return url, scheme + "://" + user + "@" + host
}

func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

func TestPostgresIsMigratedAndKept(t *testing.T) {
	t.Parallel()
	url, name := database(t)
	use(t, url, name, storeurl.Options{Existing: true})
}

func TestPostgresSchema(t *testing.T) {
	t.Parallel()
	url, name := database(t)
	payments := with(url, "schema=pay%20ments&pool_max_conns=2")
	use(t, payments, name+"?schema=pay%20ments", storeurl.Options{})
	use(t, with(strings.Replace(url, "postgres:", "postgresql:", 1), "schema=other"),
		strings.Replace(name, "postgres:", "postgresql:", 1)+"?schema=other", storeurl.Options{Existing: true})

	opened := open(t, payments, storeurl.Options{Existing: true})
	if _, err := opened.Store.Get(t.Context(), request(t).Ref); err != nil {
		t.Error(err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
}

func TestExistingMakesNoTables(t *testing.T) {
	t.Parallel()
	url, _ := database(t)
	for range 2 {
		refused(t, url, storeurl.Options{Existing: true}, storeurl.ErrMissing, "start a worker, which migrates them")
	}
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var schemas int
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = 'effectonce'").Scan(&schemas); err != nil || schemas != 0 {
		t.Errorf("%d schemas were made, error %v", schemas, err)
	}
}

func TestPostgresPortable(t *testing.T) {
	t.Parallel()
	url, name := database(t)
	portable := with(url, "portable=true&pool_max_conns=2&schema=far%20away")
	use(t, portable, name+"?portable=true&schema=far%20away", storeurl.Options{Existing: true})
	refused(t, with(url, "schema=far%20away"), storeurl.Options{}, postgres.ErrPortable, "?portable=true, or without")
	refused(t, with(url, "schema=far%20away"), storeurl.Options{Existing: true}, postgres.ErrPortable, "?portable=true, or without")
	use(t, with(url, "portable=false"), name+"?portable=false", storeurl.Options{Existing: true})
	refused(t, with(url, "portable=true"), storeurl.Options{}, postgres.ErrPortable, "?portable=true, or without")
	refused(t, with(url, "portable=yes"), storeurl.Options{}, storeurl.ErrSyntax, "true or false")
	refused(t, with(url, "notify=no"), storeurl.Options{}, storeurl.ErrSyntax, "notify must be true or false")
	refused(t, with(url, "portable=true&portable=true"), storeurl.Options{}, storeurl.ErrSyntax, "once")
}

// A worker and the command line say what is wrong with the tables instead of beginning.
func TestPostgresOfAnotherVersion(t *testing.T) {
	t.Parallel()
	url, name := database(t)
	use(t, url, name, storeurl.Options{})
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	for _, step := range []struct {
		sql      string
		existing bool
		want     error
	}{
		{"INSERT INTO effectonce.schema_version (version_id, is_applied) VALUES (99, true)", true, postgres.ErrNewerSchema},
		{"SELECT 1", false, postgres.ErrNewerSchema},
		{"DELETE FROM effectonce.schema_version WHERE version_id > 0", true, storeurl.ErrMissing},
	} {
		if _, err := c.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		refused(t, url, storeurl.Options{Existing: step.existing}, step.want, name)
	}
}

// Through a pooler, once somebody has migrated directly.
func TestPostgresThroughAPooler(t *testing.T) {
	t.Parallel()
	url, name := database(t)
	use(t, url, name, storeurl.Options{})
	through := services.PgBouncer(t, url)
	opened := open(t, with(through, "notify=false&default_query_exec_mode=exec"), storeurl.Options{})
	if _, err := opened.Store.Get(t.Context(), request(t).Ref); err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
}

func TestServerThatRefusesUs(t *testing.T) {
	t.Parallel()
	_, name := database(t)
	_, host, _ := strings.Cut(name, "@")
	refused(t, "postgres://nobody:s3cr3t@"+host, storeurl.Options{}, storeurl.ErrUnreachable, "user, password and database")
}
