package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrations embed.FS

func migrationFiles(portable bool) (fs.FS, error) {
	if portable {
		return fs.Sub(migrations, "migrations/portable")
	}
	return fs.Sub(migrations, "migrations")
}

// Tables in which goose keeps what has been done, and who is at it.
const (
	versionTable = "schema_version"
	lockTable    = "schema_lock"
)

// errPooler says what the server, or what is in its place, would not do.
var errPooler = errors.New("the connection did not take its search_path: call Migrate once with a pool on the server itself, not through a pooler")

// Migrate creates the schema and its tables, or brings them up to date. Any number
// of processes may call it at once; one does the work and the others wait for it.
// It returns [ErrNewerSchema] if the tables are newer than this program, and
// [ErrPortable] if the schema has tables of the other kind.
//
// Where there is something to do, it opens connections of its own, configured like the
// pool's, which begin with another search_path: that needs the server itself, because
// poolers do not pass it on. (With [Options.Portable] it does not, and works through
// any pooler.) It needs the right to create tables in the schema, and to create the
// schema unless it exists; [New] and the store's calls need neither.
func Migrate(ctx context.Context, pool *pgxpool.Pool, opts Options) error {
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return err
	}
	if err := createSchema(ctx, pool, opts.Schema); err != nil {
		return fmt.Errorf("migrate: create schema %q: %w", opts.Schema, err)
	}
	if err := bringUp(ctx, pool, opts); err != nil {
		return fmt.Errorf("migrate schema %q: %w", opts.Schema, err)
	}
	return nil
}

func bringUp(ctx context.Context, pool *pgxpool.Pool, opts Options) error {
	if opts.Portable {
		return migratePlainly(ctx, pool, opts.Schema)
	}
	// Who finds nothing to do needs no connection that a pooler could not give.
	err := check(ctx, pool, opts)
	if errors.Is(err, ErrNotMigrated) {
		err = migrate(ctx, pool, opts.Schema)
	}
	if err != nil {
		return err
	}
	if err := addPartitions(ctx, pool, opts.Schema); err != nil {
		return fmt.Errorf("partitions of the history: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, pool *pgxpool.Pool, schema string) (err error) {
	config := pool.Config()
	// goose's own tables cannot be named with a schema that needs quoting, so the
	// schema is where its connections look: from their start, because what is set
	// later a pooler hands to whoever comes next.
	connect := config.ConnConfig.Copy()
	connect.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	db := stdlib.OpenDB(*connect,
		stdlib.OptionBeforeConnect(func(ctx context.Context, c *pgx.ConnConfig) error {
			if config.BeforeConnect == nil {
				return nil
			}
			return config.BeforeConnect(ctx, c)
		}),
		stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
			var found *string
			if err := c.QueryRow(ctx, "SELECT current_schema()").Scan(&found); err != nil {
				return err
			}
			if found == nil || *found != schema {
				return errPooler
			}
			return nil
		}))
	defer func() { err = errors.Join(err, db.Close()) }()

	// A lock in a table, not a session lock: it does not matter which connection
	// holds it, and it says who does.
	locker, err := lock.NewPostgresTableLocker(
		lock.WithTableName(lockTable),
		lock.WithTableLockTimeout(100*time.Millisecond, 600),
		lock.WithTableLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	files, err := migrationFiles(false)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(versionTable),
		goose.WithLocker(locker),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		if state(err) == protocolViolation {
			err = fmt.Errorf("%w: %w", errPooler, err)
		}
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	return compare(have, want)
}

// createSchema creates the schema unless it is there: who may not create schemas
// can be given one. Several may create it at once, and all but one then fail.
func createSchema(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	exists := func() (found bool, err error) {
		err = pool.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)", schema).Scan(&found)
		return found, err
	}
	found, err := exists()
	if err != nil || found {
		return err
	}
	_, err = pool.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize())
	if found, _ := exists(); found {
		return nil
	}
	return err
}
