package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
)

// More than one transaction deletes. A record that cannot be read stays, with its
// history, is told, and keeps no other from going.
func TestPruneGoesOnInBatches(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s := open(t, path)
	const all = 1100
	var first store.Record
	for n := range all {
		q := request(n)
		q.Root, q.ScopeKind = [16]byte{1}, "run"
		r, err := s.Claim(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Report(t.Context(), r.Claim(), done("x")); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = r
		}
	}
	raw(t, path, "PRAGMA ignore_check_constraints = ON", "UPDATE records SET generation = -1 WHERE id = 1")
	for _, c := range []struct{ limit, want int }{{700, 700}, {10 * all, all - 701}, {10, 0}} {
		n, err := s.Prune(t.Context(), store.Prune{Kinds: []string{"chain", "run"}, Age: time.Microsecond, Limit: c.limit})
		if n != c.want || !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("limit %d: got %d and %v, want %d and %v", c.limit, n, err, c.want, store.ErrCorrupt)
		}
	}
	if _, err := s.Get(t.Context(), first.Ref); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("the damaged record: got %v, want %v", err, store.ErrCorrupt)
	}
	var history int
	if err := s.DB().QueryRowContext(t.Context(), "SELECT count(DISTINCT record) FROM history").Scan(&history); err != nil || history != 1 {
		t.Errorf("history of %d records, want 1; %v", history, err)
	}
}
