package sqlite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

func TestCallerThatLeavesBeforeItsTurnClaimsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s := open(t, path)
	unlock := lock(t, path)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := s.Claim(ctx, request(n)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
			}
		})
	}
	all.Wait() // although the file is still locked
	unlock()
	if _, err := s.Claim(t.Context(), request(99)); err != nil { // behind all of them
		t.Fatal(err)
	}
	for n := range 20 {
		if r, err := s.Get(t.Context(), request(n).Ref); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("claim %d was applied for a caller that had left: %s, %v", n, r.State, err)
		}
	}
}

func TestCallersThatGatherShareACommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts        sqlite.Options
		least, most int
	}{"Lane": {sqlite.Options{}, 1, 10}, "NoLane": {sqlite.Options{NoLane: true}, 20, 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "records.db")
			s := openWith(t, path, c.opts)
			before := commits(t, path)
			unlock := lock(t, path) // so that they gather
			var all sync.WaitGroup
			for n := range 20 {
				all.Go(func() {
					if _, err := s.Claim(t.Context(), request(n)); err != nil {
						t.Error(err)
					}
				})
			}
			time.AfterFunc(100*time.Millisecond, unlock)
			all.Wait()
			if n := commits(t, path) - before; n < c.least || n > c.most {
				t.Errorf("got %d commits of 20 claims, want %d to %d", n, c.least, c.most)
			}
		})
	}
}

// commits counts the commits in the write-ahead log: the last page of each says how
// large the file is then, and the others 0.
func commits(t *testing.T, path string) (n int) {
	t.Helper()
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frame, page = 32, 24, 4096
	for at := header; at+frame+page <= len(log); at += frame + page {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			n++
		}
	}
	return n
}

func TestOneBadRowDoesNotFailItsBatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s := open(t, path)
	raw(t, path, `CREATE TRIGGER poison BEFORE INSERT ON history WHEN NEW.workflow_id = 'poison'
		BEGIN SELECT raise(ABORT, 'poisoned'); END`)
	unlock := lock(t, path) // so that all of them gather
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			q := request(n)
			if n%5 == 0 {
				q.WorkflowID = "poison"
			}
			if _, err := s.Claim(t.Context(), q); (err != nil) != (n%5 == 0) {
				t.Errorf("claim %d: %v", n, err)
			}
		})
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	all.Wait()
	for n := range 20 {
		_, err := s.Get(t.Context(), request(n).Ref)
		if errors.Is(err, store.ErrNotFound) != (n%5 == 0) || err != nil && n%5 != 0 {
			t.Errorf("record %d: %v", n, err)
		}
	}
}

func TestCloseAnswersThoseThatWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	s := open(t, path)
	unlock := lock(t, path)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if _, err := s.Claim(t.Context(), request(n)); !errors.Is(err, sqlite.ErrClosed) {
				t.Errorf("got error %v, want %v", err, sqlite.ErrClosed)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	unlock()
	for n := range 20 {
		if _, err := open(t, path).Get(t.Context(), request(n).Ref); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got error %v, want %v", err, store.ErrNotFound)
		}
	}
}
