package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

// All claims of a process are renewed together. A row that somebody else is just
// writing is left for the next renewal, so that one slow transaction cannot let
// every lease run out; it is not lost for that.

const heldSQL = `held AS (
	SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[]) AS h (root, key, token, fence)
)`

const renewSQL = `
WITH {clock}, ` + heldSQL + `, due AS (
	SELECT r.root, r.key, NOT (r.state = 'in_flight' AND r.lease > clock.now) AS was_over
	FROM held h JOIN {records} r USING (root, key, token, fence), clock
	WHERE r.state IN ('in_flight', 'unknown', 'free') AND r.lease IS NOT NULL AND r.token <> {revoked}
	FOR UPDATE OF r SKIP LOCKED -- and so in any order: nobody waits, nobody deadlocks
), changed AS (
	UPDATE {records} r SET state = 'in_flight', lease = clock.now + $5::interval, version = r.version + 1,
		active_since = CASE WHEN due.was_over THEN clock.now ELSE r.active_since END
	FROM due, clock
	WHERE r.root = due.root AND r.key = due.key
	RETURNING clock.now, r.version, r.fence, r.root, r.key, due.was_over
), logged AS (
	INSERT INTO {history} (at, version, fence, root, key, verb, state, who, why)
	SELECT now, version, fence, root, key, 'resume', 'in_flight', '', '' FROM changed WHERE was_over
)
SELECT {durable} FROM changed LIMIT 1`

const lostSQL = `
WITH ` + heldSQL + `
SELECT h.root, h.key, h.token, h.fence FROM held h LEFT JOIN {records} r USING (root, key)
WHERE (r.token = h.token AND r.fence = h.fence AND r.token <> {revoked}
	AND r.state NOT IN ('completed', 'failed')) IS NOT TRUE`

// together is how many claims are renewed in one transaction.
const together = 1000

// Renew implements [store.Store].
func (s *Store) Renew(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	if err := store.ValidateRenew(lease); err != nil {
		return nil, err
	}
	held = slices.Clone(held)
	lost, err = detached(ctx, s, func() (lost []store.Claim, err error) {
		if s.opts.Portable {
			return s.renewPlainly(ctx, lease, held)
		}
		for some := range slices.Chunk(held, together) {
			err = s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
				gone, err := s.renew(ctx, c, lease, some)
				lost = append(lost, gone...)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		return lost, nil
	})
	if err != nil {
		return nil, fmt.Errorf("renew %d claims: %w", len(held), explained(err))
	}
	return lost, nil
}

func (s *Store) renew(ctx context.Context, c *pgx.Conn, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	roots, keys := make([]pgtype.UUID, len(held)), make([][]byte, len(held))
	tokens, fences := make([]pgtype.UUID, len(held)), make([]int64, len(held))
	for i := range held {
		h := &held[i]
		roots[i], keys[i], tokens[i], fences[i] = uuid(h.Root), h.Key[:], uuid(h.Token), h.Fence
	}
	err = s.send(ctx, c,
		statement{s.text.renew, []any{roots, keys, tokens, fences, interval(lease)}, ignore},
		statement{s.text.lost, []any{roots, keys, tokens, fences}, func(rows pgx.Rows) (err error) {
			lost, err = readClaims(rows)
			return err
		}})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

func readClaims(rows pgx.Rows) (claims []store.Claim, err error) {
	defer rows.Close()
	for rows.Next() {
		var h store.Claim
		var key []byte
		if err := rows.Scan(&h.Root, &key, (*[16]byte)(&h.Token), &h.Fence); err != nil {
			return nil, err
		}
		copy(h.Key[:], key)
		claims = append(claims, h)
	}
	return claims, rows.Err()
}
