package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/store"
)

var _ store.Notifier = (*Store)(nil)

// Who waits for a record listens, and marks its row. A change that ends the waiting
// notifies in its own transaction if the row is marked: a notification makes its commit
// wait for those of all others, so that rows nobody waits for go without. A mark stays:
// who has heard of one owner's end may have to wait for the next.

const markSQL = `
UPDATE {records} SET waited_for = true
WHERE root = $1 AND key = $2 AND state IN ('in_flight', 'pending') AND waited_for IS NULL`

// notify is part of the answer of the statements that end somebody's waiting.
const notify = `CASE WHEN waited_for THEN pg_notify('{channel}', encode(key, 'hex')) IS NULL END`

// channelOf names a channel for each schema; a schema's name may be too long for one.
func channelOf(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return "effectonce_" + hex.EncodeToString(sum[:8])
}

// Watch implements [store.Notifier]. While somebody watches, and for some seconds
// after, the store keeps one connection outside the pool, which listens. Through a
// pooler in transaction mode nothing is heard: see [Options.NoNotify].
func (s *Store) Watch(ctx context.Context, ref store.Ref) <-chan struct{} {
	w := &watcher{ref: ref, hints: make(chan struct{}, 1)}
	if s.opts.Portable || s.opts.NoNotify || !s.watchers.add(s, w) {
		return w.hints
	}
	context.AfterFunc(ctx, func() { s.watchers.remove(w) })
	return w.hints
}

// watchers are those who wait, and what the listening connection is for.
type watchers struct {
	mu       sync.Mutex
	waiting  []*watcher
	hearing  bool               // the connection listens
	stop     context.CancelFunc // ends the listening; nil if nobody listens
	stopping *time.Timer        // calls stop if nobody comes
}

type watcher struct {
	ref   store.Ref
	hints chan struct{}
}

// hint never waits: one hint is as good as two.
func (w *watcher) hint() {
	select {
	case w.hints <- struct{}{}:
	default:
	}
}

// lingering is how long the connection is kept for the next to come.
const lingering = 10 * time.Second

func (ws *watchers) add(s *Store, w *watcher) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		if s.work.start(func() { s.listen(ctx) }) != nil {
			stop()
			return false
		}
		ws.stop, ws.stopping = stop, time.AfterFunc(lingering, ws.rest)
	}
	ws.waiting = append(ws.waiting, w)
	if ws.hearing {
		_ = s.work.start(func() { s.mark(w) })
	}
	return true
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = slices.DeleteFunc(ws.waiting, func(other *watcher) bool { return other == w })
	if len(ws.waiting) == 0 && ws.stop != nil {
		ws.stopping.Reset(lingering)
	}
}

// rest ends the listening if nobody waits.
func (ws *watchers) rest() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.waiting) == 0 {
		ws.end()
	}
}

// close ends the listening, whoever waits.
func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = nil
	ws.end()
}

func (ws *watchers) end() {
	if ws.stop != nil {
		ws.stop()
		ws.stop, ws.hearing = nil, false
	}
}

// hears says whether the connection listens, and returns who waits.
func (ws *watchers) hears(hearing bool) []*watcher {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.hearing = hearing
	return slices.Clone(ws.waiting)
}

// listen keeps a connection that listens until ctx is done.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		// What is heard is a hint: whoever waits also looks from time to time.
		_ = s.hear(ctx)
		if ctx.Err() != nil {
			return // others may listen already
		}
		s.watchers.hears(false)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *Store) hear(ctx context.Context) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close(context.Background()) //nolint:errcheck // it has said nothing that matters
	if _, err := c.Exec(ctx, "LISTEN "+channelOf(s.opts.Schema)); err != nil {
		return err
	}
	for _, w := range s.watchers.hears(true) {
		s.work.more(func() { s.mark(w) })
	}
	for {
		heard, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		for _, w := range s.watchers.hears(true) {
			if hex.EncodeToString(w.ref.Key[:]) == heard.Payload {
				w.hint()
			}
		}
	}
}

// connect opens a connection like the pool's, outside it: the pool may be small.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	config := s.pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// mark asks for a notification. The waiting may have ended before: hence the hint.
func (s *Store) mark(w *watcher) {
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout)
	defer cancel()
	err := s.settle(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return s.send(ctx, c, statement{s.text.mark, []any{uuid(w.ref.Root), w.ref.Key[:]}, ignore})
	})
	if err == nil {
		w.hint()
	}
}
