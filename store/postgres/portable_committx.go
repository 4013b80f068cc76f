package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

// commitPlainly is commit. Which engine tells whether a savepoint is open is not known,
// so that it commits as if there were one.
func (s *Store) commitPlainly(ctx context.Context, tx pgx.Tx, held store.Claim, c store.Change) error {
	for {
		prev, err := s.findPlainly(ctx, tx.Conn(), held.Ref)
		if err != nil {
			return err
		}
		next, changed, _ := prev.AfterReport(held, c, prev.Now)
		if !changed {
			return store.ErrLeaseLost
		}
		var written bool
		if err := within(ctx, tx, s.update(&prev, next, c.Verb, c.Who, &written)); err != nil {
			return err
		}
		if !written {
			continue // renewed since it was read
		}
		if err := within(ctx, tx, s.log(&prev, next, c.Verb, c.Who, c.Why)...); err != nil {
			return err
		}
		return commitAll(ctx, tx)
	}
}

// within sends statements in somebody's transaction.
func within(ctx context.Context, tx pgx.Tx, list ...statement) error {
	var batch pgx.Batch
	for _, st := range list {
		batch.Queue(st.sql, st.args...)
	}
	return readAll(tx.SendBatch(ctx, &batch), list)
}
