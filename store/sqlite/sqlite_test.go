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
	return openWith(t, path, sqlite.Options{})
}

func openWith(t *testing.T, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
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

// The contract holds when every change is a commit of its own.
func TestStoreWithoutTheLane(t *testing.T) {
	s := openWith(t, filepath.Join(t.TempDir(), "records.db"), sqlite.Options{NoLane: true})
	storetest.Run(t, func(t *testing.T) store.Store { return s })
}
