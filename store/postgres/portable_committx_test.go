package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/postgres"
)

func TestPortableCommitTx(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	held := claim(t, l, request()).Claim()
	require.NoError(t, l.commit(held, l.post(pgx.TxOptions{})))
	r, err := l.Get(t.Context(), held.Ref)
	require.NoError(t, err)
	require.Equal(t, store.Completed, r.State)
	require.True(t, r.Outcome.Equal(done("receipt").Outcome))
	require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))
	require.ErrorIs(t, l.commit(held, l.post(pgx.TxOptions{})), store.ErrLeaseLost, "once more is not the same")
	require.Equal(t, 1, l.rows())
}

func TestPortableCommitTxAfterATakeOverCommitsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	q := request()
	seen := report(t, l, claim(t, l, q).Claim(), store.Change{Verb: store.MarkUnknown})
	tx := l.post(pgx.TxOptions{})
	_, err := l.TakeOver(t.Context(), again(q), seen)
	require.NoError(t, err)
	require.ErrorIs(t, l.commit(seen.Claim(), tx), store.ErrLeaseLost)
	require.Zero(t, l.rows())
	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver}, story(t, l, q.Ref))
}

func TestPortableCommitTxAlsoThroughASavepoint(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	for i := range 2 * l.pool.Config().MaxConns { // none is lost
		held := claim(t, l, request()).Claim()
		outer := l.post(pgx.TxOptions{})
		inner, err := outer.Begin(t.Context())
		require.NoError(t, err)
		require.NoError(t, l.commit(held, []pgx.Tx{inner, outer}[i%2]))
		_ = outer.Rollback(t.Context()) // as a deferred one does
		require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))
	}
	require.EqualValues(t, 2*l.pool.Config().MaxConns, l.rows())
}

// Renewals write to the record while the transaction is open.
func TestPortableCommitTxAfterARenewal(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	renewed := func(level pgx.TxIsoLevel) error {
		held := claim(t, l, request()).Claim()
		tx := l.post(pgx.TxOptions{IsoLevel: level})
		_, err := l.Renew(t.Context(), time.Hour, []store.Claim{held})
		require.NoError(t, err)
		return l.commit(held, tx)
	}
	require.NoError(t, renewed(pgx.ReadCommitted))
	var refused *pgconn.PgError
	require.ErrorAs(t, renewed(pgx.Serializable), &refused)
	require.Equal(t, "40001", refused.Code)
	require.Equal(t, 1, l.rows())
}

// reading does something between the reading of the record and its writing.
type reading struct {
	pgx.Tx
	after func()
}

func (r *reading) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	after := r.after
	r.after = func() {}
	after()
	return r.Tx.SendBatch(ctx, b)
}

// A renewal or a take-over may come at the last moment.
func TestPortableCommitTxOfARecordThatChangesUnderIt(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	held := claim(t, l, request()).Claim()
	require.NoError(t, l.commit(held, &reading{l.post(pgx.TxOptions{}), func() {
		_, err := l.Renew(t.Context(), time.Hour, []store.Claim{held})
		require.NoError(t, err)
	}}))
	require.Equal(t, []store.Verb{store.Claimed, store.Complete}, story(t, l, held.Ref))

	q := request()
	held = claim(t, l, q).Claim()
	require.ErrorIs(t, l.commit(held, &reading{l.post(pgx.TxOptions{}), func() {
		_, err := l.TakeOver(t.Context(), again(q), report(t, l, held, store.Change{Verb: store.MarkUnknown}))
		require.NoError(t, err)
	}}), store.ErrLeaseLost)
	require.Equal(t, []store.Verb{store.Claimed, store.MarkUnknown, store.TookOver}, story(t, l, q.Ref))
	require.Equal(t, 1, l.rows())
}

func TestPortableCommitTxOnAnotherSchemaCommitsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t, portable)
	held := claim(t, l, request()).Claim()
	second := postgres.Options{Portable: true, Schema: "second"}
	require.NoError(t, postgres.Migrate(t.Context(), l.pool, second))
	other := newStore(t, l.pool, second)
	require.ErrorIs(t, other.CommitTx(body(t.Context(), held), l.post(pgx.TxOptions{}), "receipt"), store.ErrNotFound)
	require.Zero(t, l.rows())
}
