package testsuite_test

import (
	"context"
	"sync/atomic"

	"github.com/effectonce/effectonce/store"
)

// spy is a store with a word in every claim and report. An error of a hook is the
// answer; the store behind is then not asked.
type spy struct {
	store.Store
	onClaim  func(ctx context.Context, nth int64) error
	onReport func(ctx context.Context, nth int64, c store.Change) error
	claims   atomic.Int64
	reports  atomic.Int64
}

func (s *spy) Claim(ctx context.Context, q store.Request) (store.Record, error) {
	n := s.claims.Add(1)
	if s.onClaim != nil {
		if err := s.onClaim(ctx, n); err != nil {
			return store.Record{}, err
		}
	}
	return s.Store.Claim(ctx, q)
}

func (s *spy) Report(ctx context.Context, held store.Claim, c store.Change) (store.Record, error) {
	n := s.reports.Add(1)
	if s.onReport != nil {
		if err := s.onReport(ctx, n, c); err != nil {
			return store.Record{}, err
		}
	}
	return s.Store.Report(ctx, held, c)
}
