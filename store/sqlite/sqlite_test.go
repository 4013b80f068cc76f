package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
	"github.com/effectonce/effectonce/store/storetest"
)

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "records.db"))
	storetest.Run(t, func(t *testing.T) store.Store { return s })
}
