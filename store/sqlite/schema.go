package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
)

// applicationID marks a file as one of ours: "eo01".
const applicationID = 0x656f3031

// schemas are the steps from one version to the next: schema/1.sql makes version 1.
// A step that has been released is never edited.
//
//go:embed schema/*.sql
var schemas embed.FS

const newestSchema = 1

// migrate brings the file to the newest schema, inside a write transaction, so that
// of several processes that start at once one does it and the others find it done.
func migrate(ctx context.Context, c *sql.Conn) error {
	var version, application, tables int
	for pragma, into := range map[string]*int{
		"PRAGMA user_version": &version, "PRAGMA application_id": &application,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := c.QueryRowContext(ctx, pragma).Scan(into); err != nil {
			return err
		}
	}
	switch {
	case application != applicationID && (application != 0 || version != 0 || tables != 0):
		return ErrForeign
	case version > newestSchema:
		return fmt.Errorf("%w (its schema is %d, this program knows %d)", ErrNewer, version, newestSchema)
	}
	for version < newestSchema {
		version++
		step, err := schemas.ReadFile(fmt.Sprintf("schema/%d.sql", version))
		if err != nil {
			return err
		}
		for _, stmt := range []string{
			string(step), fmt.Sprintf("PRAGMA user_version = %d", version), fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		} {
			if _, err := c.ExecContext(ctx, stmt); err != nil {
				return fmt.Errorf("schema %d: %w", version, err)
			}
		}
	}
	return nil
}
