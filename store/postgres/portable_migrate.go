package postgres

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// portableVersionTable has one row. goose, which migrates otherwise, needs identity
// columns and a table of locks.
const portableVersionTable = "portable_version"

// attempts is how often a migration that meets others is tried.
const attempts = 20

// migratePlainly runs every statement by itself, as some engines allow no more than
// one change of the schema in a transaction. Each may be run again, and several
// processes may be at it; who meets another tries again.
func migratePlainly(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	for attempt := 1; ; attempt++ {
		err := migrateOnce(ctx, pool, schema)
		if err == nil || !meeting(err) || attempt == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)):
		}
	}
}

// meeting reports whether a refusal comes from others who migrate at the same time.
func meeting(err error) bool {
	switch state(err) {
	case uniqueViolation, duplicateTable, duplicateObject:
		return true
	}
	return passing(err)
}

func migrateOnce(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	have, err := version(ctx, pool, Options{Schema: schema, Portable: true})
	if err != nil {
		return err
	}
	files, err := migrationFiles(true)
	if err != nil {
		return err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		n, err := number(name)
		if err != nil {
			return err
		}
		if n <= have {
			continue
		}
		file, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		fill := strings.NewReplacer("{schema}", pgx.Identifier{schema}.Sanitize(), "{version}", strconv.FormatInt(n, 10))
		for _, sql := range append(split(string(file)), noted...) {
			if _, err := pool.Exec(ctx, fill.Replace(sql)); err != nil {
				return err
			}
		}
		have = n
	}
	want, err := newest(true)
	if err != nil {
		return err
	}
	return compare(have, want)
}

// noted writes down that a migration is done.
var noted = []string{
	`CREATE TABLE IF NOT EXISTS {schema}.` + portableVersionTable + ` (id integer PRIMARY KEY, version bigint NOT NULL)`,
	`INSERT INTO {schema}.` + portableVersionTable + ` (id, version) VALUES (1, {version}) ON CONFLICT DO NOTHING`,
	`UPDATE {schema}.` + portableVersionTable + ` SET version = {version} WHERE id = 1 AND version < {version}`,
}

// split returns the statements of a file. Each ends with a semicolon at the end of a
// line, and comments are lines of their own or behind a column.
func split(file string) (list []string) {
	for part := range strings.SplitSeq(file, ";\n") {
		if strings.TrimSpace(part) != "" {
			list = append(list, part)
		}
	}
	return list
}
