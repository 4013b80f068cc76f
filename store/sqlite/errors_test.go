package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, folder string) (path string)
		opts    sqlite.Options
		want    error
	}{
		"FolderThatIsMissing": {
			prepare: func(_ *testing.T, folder string) string { return filepath.Join(folder, "no", "such", "records.db") },
			want:    sqlite.ErrPath,
		},
		"PathThatIsAFolder": {
			prepare: func(_ *testing.T, folder string) string { return folder },
			want:    sqlite.ErrPath,
		},
		"NoPath":   {prepare: func(*testing.T, string) string { return "" }, want: sqlite.ErrPath},
		"InMemory": {prepare: func(*testing.T, string) string { return ":memory:" }, want: sqlite.ErrPath},
		"TypingErrorWhereTheFileMustExist": {
			prepare: func(_ *testing.T, folder string) string { return filepath.Join(folder, "recrods.db") },
			opts:    sqlite.Options{Existing: true},
			want:    sqlite.ErrPath,
		},
		"NotSQLite": {
			prepare: func(t *testing.T, folder string) string {
				return file(t, folder, "once upon a time there was a file that was no database at all\n")
			},
			want: sqlite.ErrDamaged,
		},
		"AnotherProgramsDatabase": {
			prepare: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "other.db")
				raw(t, path, "CREATE TABLE accounts (id INTEGER)")
				return path
			},
			want: sqlite.ErrForeign,
		},
		"NewerSchema": {
			prepare: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "records.db")
				open(t, path).Close() //nolint:errcheck // a test
				raw(t, path, "PRAGMA user_version = 99")
				return path
			},
			want: sqlite.ErrNewer,
		},
		"LockedByAnotherProgram": {
			prepare: func(t *testing.T, folder string) string {
				path := filepath.Join(folder, "records.db")
				open(t, path).Close() //nolint:errcheck // a test
				lock(t, path)
				return path
			},
			opts: sqlite.Options{BusyTimeout: 50 * time.Millisecond},
			want: sqlite.ErrBusy,
		},
		"NegativeBusyTimeout": {
			prepare: func(_ *testing.T, folder string) string { return filepath.Join(folder, "records.db") },
			opts:    sqlite.Options{BusyTimeout: -1},
			want:    store.ErrInvalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sqlite.Open(t.Context(), tt.prepare(t, t.TempDir()), tt.opts)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got error %v, want %v", err, tt.want)
			}
			if s != nil {
				t.Fatal("got a store together with an error")
			}
			t.Log(err)
		})
	}
}

func TestPathMayHoldAnyCharacter(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a b?mode=ro&x=%41#ü'\".db"
	q := request(1)
	if _, err := open(t, path).Claim(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, path).Get(t.Context(), q.Ref); err != nil || r.Token != q.Token {
		t.Fatalf("got %v, %v", r.Token, err)
	}
}

func TestLockedFileIsBusyAndNothingIsApplied(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // a test
	held, err := s.Claim(t.Context(), request(1))
	if err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, path)
	q := request(2)
	if _, err := s.Claim(t.Context(), q); !errors.Is(err, sqlite.ErrBusy) {
		t.Fatalf("Claim: got error %v, want %v", err, sqlite.ErrBusy)
	}
	if _, err := s.Report(t.Context(), held.Claim(), done("x")); !errors.Is(err, sqlite.ErrBusy) {
		t.Fatalf("Report: got error %v, want %v", err, sqlite.ErrBusy)
	}
	if r, err := s.Get(t.Context(), held.Ref); err != nil || r.State != store.InFlight {
		t.Fatalf("reading while it is locked: got %s, %v", r.State, err)
	}
	unlock()
	if _, err := s.Get(t.Context(), q.Ref); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("got error %v, want %v", err, store.ErrNotFound)
	}
	if _, err := s.Report(t.Context(), held.Claim(), done("x")); err != nil {
		t.Fatal(err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "records.db"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Claim(t.Context(), request(1)); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Claim: got error %v, want %v", err, sqlite.ErrClosed)
	}
	if _, err := s.Get(t.Context(), request(1).Ref); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Get: got error %v, want %v", err, sqlite.ErrClosed)
	}
}

func TestHistoryIsAppendOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	if _, err := open(t, path).Claim(t.Context(), request(1)); err != nil {
		t.Fatal(err)
	}
	db := must(sql.Open("sqlite", path))
	defer db.Close() //nolint:errcheck // a test
	for _, stmt := range []string{"DELETE FROM history", "UPDATE history SET who = 'nobody'"} {
		if _, err := db.Exec(stmt); err == nil {
			t.Errorf("%s was accepted", stmt)
		}
	}
}

func file(t *testing.T, folder, text string) string {
	path := filepath.Join(folder, "file.db")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// raw runs SQL behind the store's back.
func raw(t *testing.T, path string, stmts ...string) {
	t.Helper()
	db := must(sql.Open("sqlite", path))
	db.SetMaxOpenConns(1)
	defer db.Close() //nolint:errcheck // a test
	for _, stmt := range append([]string{"PRAGMA busy_timeout = 10000"}, stmts...) {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// lock holds the write lock, as another process would.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db := must(sql.Open("sqlite", path))
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	unlock = func() { db.Close() } //nolint:errcheck // a test
	t.Cleanup(unlock)
	return unlock
}
