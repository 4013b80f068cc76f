package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store/postgres"
)

// At SERIALIZABLE, a read may be refused for what others do.
func TestReadThatIsRefusedIsRepeated(t *testing.T) {
	t.Parallel()
	s := newStore(t, newPool(t, "postgres://nobody@127.0.0.1:1/nothing"), postgres.Options{Timeout: 200 * time.Millisecond})
	refused := &pgconn.PgError{Code: "40001"}
	tries := 0
	require.NoError(t, s.Reading(t.Context(), func() error {
		if tries++; tries < 3 {
			return refused
		}
		return nil
	}))
	require.Equal(t, 3, tries)
	begin := time.Now()
	require.ErrorIs(t, s.Reading(t.Context(), func() error { return refused }), refused)
	require.Less(t, time.Since(begin), 5*time.Second)
	other := errors.New("something else")
	tries = 0
	require.ErrorIs(t, s.Reading(t.Context(), func() error { tries++; return other }), other)
	require.Equal(t, 1, tries)
}
