package sqlite

import (
	"crypto/rand"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
)

// BenchmarkClaimComplete is a claim and a completion of 120 bytes, by so many
// goroutines at once; ungrouped is one commit for each, as the obvious code has it.
//
//	go test -run=^$ -bench=ClaimComplete -benchtime=2s ./store/sqlite
func BenchmarkClaimComplete(b *testing.B) {
	for name, opts := range map[string]Options{"grouped": {}, "ungrouped": {NoLane: true}} {
		for _, callers := range []int{1, 8, 64, 256} {
			b.Run(name+"/c="+strconv.Itoa(callers), func(b *testing.B) { claimComplete(b, opts, callers) })
		}
	}
}

func claimComplete(b *testing.B, opts Options, callers int) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "records.db"), opts)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a benchmark
	outcome := &store.Outcome{Format: "json", Data: make([]byte, 120)}
	work := make(chan struct{}, callers)
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for range work {
				q := benchRequest()
				r, err := s.Claim(b.Context(), q)
				if err == nil {
					_, err = s.Report(b.Context(), r.Claim(), store.Change{Verb: store.Complete, Outcome: outcome})
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "actions/s")
}

func benchRequest() store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", ScopeKind: "run", ScopeID: "0192f0c1-7f6e-7c3d-8a51-1f0e5f0a9b11",
		Operation: "Refund", WorkflowID: "order-4711", RunID: "0192f0c1-7f6e-7c3d-8a51-1f0e5f0a9b11", Attempt: 1,
		Lease: 30 * time.Second, Remaining: time.Minute, Retention: 24 * time.Hour, Who: "worker-1",
	}
	for _, b := range [][]byte{q.Root[:], q.Key[:], q.Fingerprint[:], q.Scheduled[:]} {
		rand.Read(b)
	}
	return q
}
