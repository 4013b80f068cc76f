package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

var (
	// ErrNotMigrated is returned when the tables are not there, or were made by an
	// older version of this package: call [Migrate].
	ErrNotMigrated = errors.New("the database's schema is not migrated, or older than this program: call postgres.Migrate")

	// ErrNewerSchema is returned when the tables were made by a newer version of this
	// package, which may keep promises in them that this one does not know of.
	ErrNewerSchema = errors.New("the database's schema is newer than this program: update the program")

	// ErrPortable is returned when the tables were made with [Options.Portable] and
	// are used without it, or the other way round.
	ErrPortable = errors.New("the database's schema was migrated with another Options.Portable: use it as it was migrated, or name another schema")
)

// Check asks whether the tables are there, of the kind and version that this store
// needs. It returns nil, [ErrNotMigrated], [ErrNewerSchema], [ErrPortable] or, if
// there was no answer, another error. A program calls it once, before it starts work:
// [New] does not ask, and the store's calls find out only what keeps them from working.
// It needs the right to read the table of versions, which the other calls do not.
func (s *Store) Check(ctx context.Context) error {
	_, err := reading(ctx, s, func() (none struct{}, err error) { return none, check(ctx, s.pool, s.opts) })
	if err != nil {
		return fmt.Errorf("check schema %q: %w", s.opts.Schema, err)
	}
	return nil
}

// asker is a pool or a connection.
type asker interface {
	querier
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func check(ctx context.Context, db asker, opts Options) error {
	have, err := version(ctx, db, opts)
	want, unreadable := newest(opts.Portable)
	return cmp.Or(err, unreadable, compare(have, want))
}

func compare(have, want int64) error {
	switch {
	case have == 0:
		return fmt.Errorf("%w (there are no tables)", ErrNotMigrated)
	case have < want:
		return fmt.Errorf("%w (it has version %d, this program needs %d)", ErrNotMigrated, have, want)
	case have > want:
		return fmt.Errorf("%w (it has version %d, this program knows %d)", ErrNewerSchema, have, want)
	}
	return nil
}

// The catalogue is asked first: a table that is missing would be an error in the
// server's log.
const tablesSQL = `
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname IN ('` + versionTable + `', '` + portableVersionTable + `')`

// version returns the version of the tables, 0 if there are none. It returns
// [ErrPortable] if there are tables of the other kind.
func version(ctx context.Context, db asker, opts Options) (have int64, err error) {
	rows, err := db.Query(ctx, tablesSQL, opts.Schema)
	if err != nil {
		return 0, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	mine := versionTable
	if opts.Portable {
		mine = portableVersionTable
	}
	there := false
	for _, table := range tables {
		if table != mine {
			return 0, ErrPortable
		}
		there = true
	}
	if !there {
		return 0, nil
	}
	err = db.QueryRow(ctx, versionSQL(opts)).Scan(&have)
	if errors.Is(err, pgx.ErrNoRows) { // it is just being migrated for the first time
		return 0, nil
	}
	return have, err
}

func versionSQL(opts Options) string {
	if opts.Portable {
		return `
SELECT version FROM ` + pgx.Identifier{opts.Schema, portableVersionTable}.Sanitize() + ` WHERE id = 1`
	}
	return `SELECT max(version_id) FROM ` + pgx.Identifier{opts.Schema, versionTable}.Sanitize() + ` WHERE is_applied`
}

// newest is the version that this program knows: the number of its last migration.
func newest(portable bool) (int64, error) {
	files, err := migrationFiles(portable)
	if err != nil {
		return 0, err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	return number(names[len(names)-1])
}

// number is the version in a migration's file name.
func number(name string) (int64, error) {
	digits, _, _ := strings.Cut(name, "_")
	return strconv.ParseInt(digits, 10, 64)
}
