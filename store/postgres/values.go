package postgres

import (
	"encoding/hex"
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

// timeBytes is how much of a run's ID precedes the digest of a scheduled activity.
const timeBytes = 6

// activity is how the digest of a scheduled activity is kept. Temporal's run IDs
// begin with the time, and the digest covers the run ID: what comes with the same
// digest comes with the same run ID, so equal digests stay equal.
func activity(scheduled store.Digest, runID string) []byte {
	if scheduled == (store.Digest{}) {
		return nil
	}
	kept := make([]byte, timeBytes, timeBytes+len(scheduled))
	if len(runID) == 36 { // 01234567-89ab-…
		if _, err := hex.Decode(kept, []byte(runID[:8]+runID[9:13])); err != nil {
			clear(kept)
		}
	}
	return append(kept, scheduled[:]...)
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
