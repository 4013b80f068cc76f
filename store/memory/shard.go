package memory

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/effectonce/effectonce/store"
)

// shards is how many locks there are for records, and how many for their index: enough
// that callers at work on different actions rarely meet.
const shards = 64

// shard is some of the records.
type shard struct {
	mu   sync.Mutex
	rows map[store.Ref]row
}

// index is some of the scheduled activities, and the records that they claimed. A record
// may since have been claimed by another one: what it says itself is what counts.
//
// Its lock is taken before that of a shard, and never while one is held.
type index struct {
	mu      sync.Mutex
	claimed map[store.Digest]store.Ref
}

// shardOf returns where the record of ref is kept. Keys are digests: any part will do.
func (s *Store) shardOf(ref store.Ref) *shard {
	return &s.shards[binary.LittleEndian.Uint64(ref.Key[:])%shards]
}

// indexOf returns where the scheduled activity of q is. A request without one finds
// nothing in any index; it goes where others of that kind are not in its way.
func (s *Store) indexOf(q store.Request) *index {
	d := q.Scheduled
	if d == (store.Digest{}) {
		d = store.Digest(q.Key)
	}
	return &s.indexes[binary.LittleEndian.Uint64(d[:])%shards]
}

// lock takes a lock, unless ctx is done by the time that it has it.
func lock(ctx context.Context, mu *sync.Mutex) error {
	mu.Lock()
	if ctx.Err() != nil {
		mu.Unlock()
		return context.Cause(ctx)
	}
	return nil
}

// lockAll takes the locks of all records, for those who look at all of them at one
// moment, unless ctx is done by the time that it has them.
func (s *Store) lockAll(ctx context.Context) (unlock func(), err error) {
	for i := range s.shards {
		s.shards[i].mu.Lock()
	}
	unlock = func() {
		for i := range s.shards {
			s.shards[i].mu.Unlock()
		}
	}
	if ctx.Err() != nil {
		unlock()
		return nil, context.Cause(ctx)
	}
	return unlock, nil
}
