package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// renewers is how many rows are renewed at a time: one that is held up must not let
// the leases of the others run out.
const renewers = 8

// renewPlainly renews row by row.
func (s *Store) renewPlainly(ctx context.Context, lease time.Duration, held []store.Claim) (lost []store.Claim, err error) {
	work := make(chan store.Claim, len(held))
	for _, h := range held {
		work <- h
	}
	close(work)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range min(renewers, len(held)) {
		all.Go(func() {
			for h := range work {
				var gone bool
				failed := s.settle(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
					gone, err = s.renewOne(ctx, c, lease, h)
					return err
				})
				mu.Lock()
				if gone {
					lost = append(lost, h)
				}
				if err == nil {
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return lost, err
}

// renewOne is one statement while the lease runs, and otherwise a change like others.
func (s *Store) renewOne(ctx context.Context, c *pgx.Conn, lease time.Duration, h store.Claim) (lost bool, err error) {
	for {
		tag, err := c.Exec(ctx, s.plain.renew, uuid(h.Root), hexed(h.Key[:]), uuid(h.Token), h.Fence, interval(lease))
		if err != nil || tag.RowsAffected() == 1 {
			return false, err
		}
		prev, err := s.findPlainly(ctx, c, h.Ref)
		if errors.Is(err, store.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		next, changed, lost := prev.AfterRenew(h, lease, prev.Now)
		switch {
		case !changed:
			return lost, nil
		case !prev.LogRenewal(prev.Now):
			continue
		}
		if written, err := s.writePlainly(ctx, c, &prev, next, store.Resumed, "", ""); err != nil || written {
			return false, err
		}
	}
}
