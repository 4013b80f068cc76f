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

// Migrate creates the schema and its tables, or brings them up to date. Any number
// of processes may call it at once; one does the work and the others wait for it.
// It returns [ErrNewerSchema] if the tables are newer than this program, and
// [ErrPortable] if the schema has tables of the other kind.
//
// It opens connections of its own, configured like the pool's, and sets their
// search_path: it needs the server itself, or a pooler in session mode. (With
// [Options.Portable] it does neither, and works through any pooler.) It needs
// the right to create tables in the schema, and to create the schema unless it
// exists; [New] and the store's calls need neither.
func Migrate(ctx context.Context, pool *pgxpool.Pool, opts Options) error {
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return err
	}
	if err := createSchema(ctx, pool, opts.Schema); err != nil {
		return fmt.Errorf("migrate: create schema %q: %w", opts.Schema, err)
	}
	// Also says of tables of the other kind.
	if _, err := version(ctx, pool, opts); err != nil {
		return fmt.Errorf("migrate schema %q: %w", opts.Schema, err)
	}
	if opts.Portable {
		if err := migratePlainly(ctx, pool, opts.Schema); err != nil {
			return fmt.Errorf("migrate schema %q: %w", opts.Schema, err)
		}
		return nil
	}
	if err := migrate(ctx, pool, opts.Schema); err != nil {
		return fmt.Errorf("migrate schema %q: %w", opts.Schema, err)
	}
	if err := addPartitions(ctx, pool, opts.Schema); err != nil {
		return fmt.Errorf("migrate schema %q: partitions of the history: %w", opts.Schema, err)
	}
	return nil
}

func migrate(ctx context.Context, pool *pgxpool.Pool, schema string) (err error) {
	config := pool.Config()
	// goose's own tables cannot be named with a schema that needs quoting, so the
	// schema is where its connections look.
	db := stdlib.OpenDB(*config.ConnConfig.Copy(),
		stdlib.OptionBeforeConnect(func(ctx context.Context, c *pgx.ConnConfig) error {
			if config.BeforeConnect == nil {
				return nil
			}
			return config.BeforeConnect(ctx, c)
		}),
		stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SET search_path TO "+pgx.Identifier{schema}.Sanitize())
			return err
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
