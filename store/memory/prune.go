package memory

import (
	"context"
	"maps"

	"github.com/effectonce/effectonce/store"
)

var _ store.Pruner = (*Store)(nil)

// Prune implements [store.Pruner].
func (s *Store) Prune(ctx context.Context, p store.Prune) (int, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	// The locks of the index come before those of the records.
	for i := range s.indexes {
		s.indexes[i].mu.Lock()
	}
	defer func() {
		for i := range s.indexes {
			s.indexes[i].mu.Unlock()
		}
	}()
	all, unlock, err := s.all(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	now := s.now()
	gone := map[store.Ref]bool{}
	for _, ref := range all {
		if len(gone) == p.Limit {
			break
		}
		if rows := s.shardOf(ref).rows; p.Matches(rows[ref].record(now)) {
			delete(rows, ref)
			gone[ref] = true
		}
	}
	// Also what it was claimed by before: else the index would keep it in memory.
	for i := range s.indexes {
		maps.DeleteFunc(s.indexes[i].claimed, func(_ store.Digest, ref store.Ref) bool { return gone[ref] })
	}
	return len(gone), nil
}
