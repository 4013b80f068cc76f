package stores

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store/postgres"
)

// floor is what one would write by hand: two statements, each its own commit, on a
// table without anything that these stores are for. No history, no index but the
// key, nothing for people to read.
func (d *database) floor(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	_, err := pool.Exec(tb.Context(), `CREATE TABLE floor (key text PRIMARY KEY, state smallint NOT NULL,
		owner uuid NOT NULL, lease timestamptz NOT NULL, response bytea) WITH (fillfactor = 50)`)
	require.NoError(tb, err)
	return way{
		name: "floor", does: "two statements by hand, each its own commit; no history, no index but the key",
		server: d.server, trips: trips,
		do: each(func(ctx context.Context) error {
			q := request()
			key := "default/" + q.WorkflowID + "/" + q.RunID + "/activity-7"
			tag, err := pool.Exec(ctx, `INSERT INTO floor VALUES ($1, 0, $2, now() + interval '30 seconds') ON CONFLICT DO NOTHING`,
				key, [16]byte(q.Token))
			if err != nil {
				return err
			}
			if err := once(1, tag.RowsAffected(), "claim"); err != nil {
				return err
			}
			tag, err = pool.Exec(ctx, `UPDATE floor SET state = 1, response = $3 WHERE key = $1 AND owner = $2 AND state = 0`,
				key, [16]byte(q.Token), result)
			if err != nil {
				return err
			}
			return once(1, tag.RowsAffected(), "complete")
		}),
	}
}

// naive is the obvious code with the features of package postgres, on its tables:
// the same columns and indexes, and the history as a third statement.
func (d *database) naive(tb testing.TB) way {
	pool, trips := d.pool(tb, connections)
	require.NoError(tb, postgres.Migrate(tb.Context(), pool, postgres.Options{Schema: "naive"}))
	return way{
		name: "same features by hand", does: "the tables of package postgres, with three statements by hand, each its own commit",
		server: d.server, trips: trips,
		do: each(func(ctx context.Context) error {
			q := request()
			tag, err := pool.Exec(ctx, `INSERT INTO naive.records (root, token, fence, retention, created, active_since, expires, deadline,
					generation, attempt, tells_claim, key, scheduled, fingerprint, fields, namespace, scope_kind, scope_id, tenant,
					operation, intent, workflow_id, run_id, who, version, lease, state)
				VALUES ($1, $2, 1, $3, clock_timestamp(), clock_timestamp(), clock_timestamp() + interval '30 days', clock_timestamp() + interval '1 hour',
					1, 1, true, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13, $14, $15, 1, clock_timestamp() + interval '1 hour', 'in_flight')
				ON CONFLICT (root, key) DO NOTHING`,
				q.Root, [16]byte(q.Token), int64(q.Retention), q.Key[:], append(q.Root[:6:6], q.Scheduled[:]...), q.Fingerprint[:], q.Fields,
				q.Namespace, q.ScopeKind, q.ScopeID, q.Tenant, q.Operation, q.WorkflowID, q.RunID, q.Who)
			if err != nil {
				return err
			}
			if err := once(1, tag.RowsAffected(), "claim"); err != nil {
				return err
			}
			tag, err = pool.Exec(ctx, `UPDATE naive.records SET version = 2, lease = NULL, finished = clock_timestamp(), state = 'completed',
					outcome_format = 'payload', outcome_data = $4
				WHERE root = $1 AND key = $2 AND token = $3 AND state = 'in_flight'`, q.Root, q.Key[:], [16]byte(q.Token), result)
			if err != nil {
				return err
			}
			if err := once(1, tag.RowsAffected(), "complete"); err != nil {
				return err
			}
			_, err = pool.Exec(ctx, `INSERT INTO naive.history (at, version, fence, root, key, verb, state, who, why)
				VALUES (clock_timestamp(), 2, 1, $1, $2, 'complete', 'completed', $3, '')`, q.Root, q.Key[:], q.Who)
			return err
		}),
	}
}

func sqliteNaive(tb testing.TB) way {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(tb.TempDir(), "naive.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // one may write at a time anyhow
	_, err = db.ExecContext(tb.Context(), `CREATE TABLE floor (key TEXT PRIMARY KEY, state INTEGER NOT NULL, owner BLOB NOT NULL,
		lease INTEGER NOT NULL, response BLOB)`)
	require.NoError(tb, err)
	claim, err := db.PrepareContext(tb.Context(), `INSERT INTO floor VALUES (?, 0, ?, ?, NULL) ON CONFLICT DO NOTHING`)
	require.NoError(tb, err)
	complete, err := db.PrepareContext(tb.Context(), `UPDATE floor SET state = 1, response = ? WHERE key = ? AND owner = ? AND state = 0`)
	require.NoError(tb, err)
	one := func(r sql.Result, err error) error {
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		if err != nil {
			return err
		}
		return once(1, n, "statement")
	}
	return way{
		name: "sqlite by hand", does: "SQLite, synchronous FULL, two statements by hand, each its own commit; no history, no index but the key",
		do: each(func(ctx context.Context) error {
			q := request()
			key := "default/" + q.WorkflowID + "/" + q.RunID + "/activity-7"
			if err := one(claim.ExecContext(ctx, key, q.Token[:], time.Now().Add(q.Lease).UnixMicro())); err != nil {
				return err
			}
			return one(complete.ExecContext(ctx, result, key, q.Token[:]))
		}),
	}
}

// redisNaive keeps nothing but the result.
func redisNaive(tb testing.TB) way {
	client, server := newRedis(tb)
	return way{
		name: "redis by hand", does: "SET NX and SET by hand, with a pool of 32; append-only file, fsync always", server: server,
		do: each(func(ctx context.Context) error {
			q := request()
			key := "naive/" + q.WorkflowID + "/" + q.RunID + "/activity-7"
			won, err := client.SetNX(ctx, key, q.Token[:], q.Retention).Result()
			if err == nil && !won {
				err = once(1, 0, "claim")
			}
			if err != nil {
				return err
			}
			return client.Set(ctx, key, result, q.Retention).Err()
		}),
	}
}
