package memory_test

import (
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
)

// BenchmarkClaimComplete is the life of an action: claimed, completed; by one caller, and
// by one for each processor.
func BenchmarkClaimComplete(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		s := memory.New(memory.Options{})
		b.ReportAllocs()
		for n := uint64(0); b.Loop(); n++ {
			complete(b, s, n)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		s := memory.New(memory.Options{})
		b.ReportAllocs()
		var n atomic.Uint64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				complete(b, s, n.Add(1))
			}
		})
	})
}

func complete(b *testing.B, s *memory.Store, n uint64) {
	q := store.Request{
		Ref: store.Ref{Key: sha256.Sum256(binary.AppendUvarint(nil, n))}, Token: store.NewToken(),
		Namespace: "default", ScopeKind: "run", ScopeID: "run-1", Operation: "Charge", WorkflowID: "workflow-1", RunID: "run-1", Attempt: 1,
		Scheduled: sha256.Sum256(binary.AppendUvarint([]byte{1}, n)), Fingerprint: store.Digest{1}, Fields: make([]byte, 70),
		Lease: time.Minute, Remaining: time.Minute, Retention: time.Hour, Who: "worker",
	}
	rec, err := s.Claim(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	done := store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "result", Data: make([]byte, 60), Context: make([]byte, 120)}, Who: "worker"}
	if _, err := s.Report(b.Context(), rec.Claim(), done); err != nil {
		b.Fatal(err)
	}
}
