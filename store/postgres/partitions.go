package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// monthsAhead is for how many months Migrate makes partitions of the history, this one
// included. What comes later is kept in history_other until Migrate is called again;
// such a month gets no partition of its own any more.
const monthsAhead = 13

func month(t time.Time) time.Time {
	return time.Date(t.UTC().Year(), t.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
}

// addPartitions makes the partitions that are missing. Several processes may do it at
// once.
func addPartitions(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	var now time.Time
	if err := pool.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return err
	}
	for i := range monthsAhead {
		from := month(now).AddDate(0, i, 0)
		_, err := pool.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF %s FOR VALUES FROM ('%s') TO ('%s')",
			pgx.Identifier{schema, from.Format("history_2006_01")}.Sanitize(), pgx.Identifier{schema, "history"}.Sanitize(),
			from.Format(time.RFC3339), from.AddDate(0, 1, 0).Format(time.RFC3339)))
		switch state(err) {
		case uniqueViolation, duplicateTable, duplicateObject, invalidObject: // another process makes it just now
		case checkViolation: // history_other has rows of that month
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}
