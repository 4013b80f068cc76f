package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

// A record that cannot be read must never look like one that is not there: its
// action would be run again.
func TestRecordThatMakesNoSenseIsCorruptNotMissing(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"State":       "state = 'done'",
		"Token":       "token = x'0102'",
		"Fingerprint": "fingerprint = x'00'",
		"Scheduled":   "scheduled = x'00'",
		"Fence":       "fence = 0",
		"Generation":  "generation = -1",
		"Lease":       "lease = NULL",
		"Finished":    "finished = 1",
		"Outcome":     "outcome_format = 'text'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "records.db")
			s := open(t, path)
			q, sound := request(1), request(2)
			q.Scheduled[0] = 7
			r, err := s.Claim(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			other, err := s.Claim(t.Context(), sound)
			if err != nil {
				t.Fatal(err)
			}
			raw(t, path, "PRAGMA ignore_check_constraints = ON", "UPDATE records SET "+damage+" WHERE id = 1")

			again := q
			again.Token, again.Attempt = store.NewToken(), 2
			for call, f := range map[string]func() error{
				"Get":           func() error { _, err := s.Get(t.Context(), q.Ref); return err },
				"Claim":         func() error { _, err := s.Claim(t.Context(), q); return err },
				"another Claim": func() error { _, err := s.Claim(t.Context(), again); return err },
				"TakeOver":      func() error { _, err := s.TakeOver(t.Context(), again, r); return err },
				"Report":        func() error { _, err := s.Report(t.Context(), r.Claim(), done("x")); return err },
				"Amend": func() error {
					_, err := s.Amend(t.Context(), r, store.Change{Verb: store.Forget, Force: true, Who: "operator"})
					return err
				},
				"Lookup":  func() error { _, err := s.Lookup(t.Context(), q.Key); return err },
				"List":    func() error { _, err := s.List(t.Context(), store.Filter{}); return err },
				"History": func() error { _, err := s.History(t.Context(), q.Ref); return err },
				"Renew": func() error {
					lost, err := s.Renew(t.Context(), 2*time.Hour, []store.Claim{r.Claim(), other.Claim()})
					if len(lost) != 0 {
						t.Errorf("Renew: got %d lost claims, want none", len(lost))
					}
					return err
				},
			} {
				if err := f(); !errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: got error %v, want %v", call, err, store.ErrCorrupt)
				}
			}
			// It does not keep its neighbours from living on.
			got, err := s.Get(t.Context(), other.Ref)
			if err != nil || got.Lease.Sub(got.Now) <= time.Hour {
				t.Errorf("the sound record was not renewed: %v, lease %s", err, got.Lease.Sub(got.Now))
			}
		})
	}
}

func TestDamagedFileIsNotAnEmptyStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s := open(t, path)
	for n := range 200 {
		if _, err := s.Claim(t.Context(), request(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("Close has left the log behind")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(text); i++ { // all but the first page
		text[i] ^= 0x5a
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		defer s.Close() //nolint:errcheck // a test
		if _, err = s.Get(t.Context(), request(7).Ref); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Fatalf("Get: got error %v, want %v", err, sqlite.ErrDamaged)
		}
		_, err = s.Claim(t.Context(), request(7))
	}
	if !errors.Is(err, sqlite.ErrDamaged) || !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("got error %v, want %v", err, sqlite.ErrDamaged)
	}
}
