package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/store/storetest"
)

// The suite has to fail for a store that breaks a promise. Each broken store is run
// through it by a child process, which is this test binary again.

const brokenEnv = "STORETEST_BROKEN"

func TestSuiteFindsBrokenStores(t *testing.T) {
	if os.Getenv(brokenEnv) != "" {
		return // this is the child
	}
	for name := range brokenStores() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0],
				"-test.run=^TestBrokenStore$", "-test.failfast", "-test.timeout=120s", "-rapid.checks=5", "-rapid.nofailfile")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("the suite is content with this store")
			}
			if found := failedTest(string(out)); found == "" || strings.Contains(string(out), "panic:") {
				t.Fatalf("the child did not fail in the suite:\n%s", out)
			} else {
				t.Logf("found by %s", found)
			}
		})
	}
}

// TestBrokenStore is what the child runs.
func TestBrokenStore(t *testing.T) {
	breakIt, ok := brokenStores()[os.Getenv(brokenEnv)]
	if !ok {
		return // only for the children of TestSuiteFindsBrokenStores
	}
	storetest.Run(t, func(t *testing.T) store.Store {
		clock := storetest.NewClock()
		whole := memory.New(memory.Options{Clock: clock.Now})
		b := &broken{Store: whole, Clock: clock}
		breakIt(b)
		return b
	})
}

// failedTest returns the innermost subtest that failed.
func failedTest(out string) (found string) {
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, "--- FAIL: TestBrokenStore/"); ok {
			if name, _, _ = strings.Cut(name, " "); strings.Count(name, "/") > strings.Count(found, "/") {
				found = name
			}
		}
	}
	return found
}

// broken is a good store with hooks that spoil what goes in and what comes out.
type broken struct {
	*memory.Store
	*storetest.Clock
	mu       sync.Mutex // hooks that remember something are called one at a time
	claim    func(q *store.Request)
	takeOver func(q *store.Request, seen *store.Record)
	report   func(held *store.Claim, c *store.Change)
	amend    func(seen *store.Record, c *store.Change)
	out      func(r *store.Record)
	claimed  func(q store.Request, r *store.Record, err *error)
	renewed  func(lease time.Duration, held []store.Claim, lost *[]store.Claim)
	filter   func(f *store.Filter)
	history  func(h []store.Entry) []store.Entry
	tidied   func(n *int)
	prune    func(p *store.Prune)
	prunes   func(p store.Prune, r store.Record) bool // and more than it should
	gone     map[store.Ref]bool
}

func (b *broken) now(ref store.Ref) (r store.Record) {
	r, _ = b.Store.Get(context.Background(), ref)
	return r
}

func (b *broken) give(r store.Record) store.Record {
	if b.out != nil && r.Fence != 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.out(&r)
	}
	return r
}

func (b *broken) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	if b.claim != nil {
		b.claim(&q)
	}
	r, err := b.Store.Claim(ctx, q)
	if b.claimed != nil {
		b.mu.Lock()
		b.claimed(q, &r, &err)
		b.mu.Unlock()
	}
	return b.give(r), err
}

func (b *broken) TakeOver(ctx context.Context, q store.Request, seen store.Record) (store.Record, error) {
	if b.takeOver != nil {
		b.takeOver(&q, &seen)
	}
	r, err := b.Store.TakeOver(ctx, q, seen)
	return b.give(r), err
}

func (b *broken) Renew(ctx context.Context, lease time.Duration, held []store.Claim) ([]store.Claim, error) {
	lost, err := b.Store.Renew(ctx, lease, held)
	if b.renewed != nil && err == nil {
		b.renewed(lease, held, &lost)
	}
	return lost, err
}

func (b *broken) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	if b.report != nil {
		b.report(&held, &c)
	}
	r, err := b.Store.Report(ctx, held, c)
	return b.give(r), err
}

func (b *broken) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if b.amend != nil {
		b.amend(&seen, &c)
	}
	r, err := b.Store.Amend(ctx, seen, c)
	return b.give(r), err
}

func (b *broken) Get(ctx context.Context, ref store.Ref) (store.Record, error) {
	b.mu.Lock()
	gone := b.gone[ref]
	b.mu.Unlock()
	if gone {
		return store.Record{}, store.ErrNotFound
	}
	r, err := b.Store.Get(ctx, ref)
	return b.give(r), err
}

func (b *broken) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if b.filter != nil {
		b.filter(&f)
	}
	return b.Store.List(ctx, f)
}

func (b *broken) History(ctx context.Context, ref store.Ref) ([]store.Entry, error) {
	h, err := b.Store.History(ctx, ref)
	if b.history != nil {
		h = b.history(slices.Clone(h))
	}
	return h, err
}

func (b *broken) Sweep(ctx context.Context, limit int) (int, error) {
	return b.tidy(b.Store.Sweep(ctx, limit))
}
func (b *broken) Expire(ctx context.Context, limit int) (int, error) {
	return b.tidy(b.Store.Expire(ctx, limit))
}

func (b *broken) tidy(n int, err error) (int, error) {
	if b.tidied != nil {
		b.tidied(&n)
	}
	return n, err
}

func (b *broken) Prune(ctx context.Context, p store.Prune) (int, error) {
	if b.prune != nil {
		b.prune(&p)
	}
	if b.prunes != nil {
		all, err := b.Store.List(ctx, store.Filter{Limit: store.MaxLimit})
		if err != nil {
			return 0, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.gone = map[store.Ref]bool{}
		for _, r := range all {
			b.gone[r.Ref] = b.prunes(p, r)
		}
	}
	return b.Store.Prune(ctx, p)
}

// fields are the fields of a struct that a store can forget one by one.
func fields[T any](except ...string) (names []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		if !slices.Contains(except, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

func zero[T any](field string) func(*T) {
	return func(v *T) { reflect.ValueOf(v).Elem().FieldByName(field).SetZero() }
}

func copyField(into *store.Record, from store.Record, field string) {
	reflect.ValueOf(into).Elem().FieldByName(field).Set(reflect.ValueOf(from).FieldByName(field))
}
