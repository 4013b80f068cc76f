package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/effectonce/effectonce/store"
)

// Values as they are sent: of the types that pgx knows without asking the server,
// which it cannot do in the query modes for poolers. What is empty is null where
// the column allows it.

func uuid[T ~[16]byte](id T) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

func digest(d store.Digest) []byte {
	if d == (store.Digest{}) {
		return nil
	}
	return d[:]
}

func null(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func text(s string) pgtype.Text { return pgtype.Text{String: s, Valid: s != ""} }

func moment(t time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()} }

func interval(d time.Duration) pgtype.Interval {
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}

// retained is null for ever.
func retained(d time.Duration) pgtype.Interval {
	i := interval(d)
	i.Valid = d > 0
	return i
}

// outcome returns the three columns of an outcome, all null for nil.
func outcome(o *store.Outcome) (format pgtype.Text, data, context []byte) {
	if o == nil {
		return format, nil, nil
	}
	return text(o.Format), null(o.Data), null(o.Context)
}
