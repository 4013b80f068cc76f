package memory_test

import (
	"testing"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/store/storetest"
)

// Given the same calls, the same records go: the first in the order of their refs.
func TestPruneGoesInTheOrderOfRefs(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memory.New(memory.Options{Clock: clock.Now})
	var refs []store.Ref
	for n := range byte(9) {
		r, err := s.Claim(t.Context(), store.Request{
			Ref: store.Ref{Root: [16]byte{n + 1}, Key: [32]byte{9 - n}}, Token: store.NewToken(), ScopeKind: "run",
			Fingerprint: store.Digest{1}, Lease: 1e9, Remaining: 1e9,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "text"}}); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, r.Ref)
	}
	clock.Advance(1e9)
	n, err := s.Prune(t.Context(), store.Prune{Kinds: []string{"run"}, Age: 1e9, Limit: 4})
	if n != 4 || err != nil {
		t.Fatalf("Prune: %d, %v", n, err)
	}
	left, err := s.List(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range left {
		if r.Ref != refs[4+i] {
			t.Errorf("record %d is left, not %d", i, 4+i)
		}
	}
	if len(left) != 5 {
		t.Errorf("%d records are left, want 5", len(left))
	}
}
