package postgres_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// wire is what lies between a pool and its server: it counts, and cuts.
type wire struct {
	dialed, written atomic.Int64
	// cuts is how many answers are still to be lost: the server has sent them, and
	// has done what they say, but the client finds the connection broken.
	cuts atomic.Int64
	// early is how many requests are still to be lost on their way to the server.
	early atomic.Int64
	// spared is how many answers come through before one is lost.
	spared atomic.Int64
	warm   bool // statements have been prepared
}

// cutAfter loses one answer after n others.
func (w *wire) cutAfter(n int64) {
	w.spared.Store(n)
	w.cuts.Store(1)
}

// heal lets everything through again, and reports whether nothing was lost.
func (w *wire) heal() (came bool) {
	w.spared.Store(0)
	return w.cuts.Swap(0) == 1
}

func (w *wire) between(config *pgxpool.Config) {
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w.dialed.Add(1)
		return &cable{c, w}, nil
	}
}

type cable struct {
	net.Conn
	*wire
}

func (c *cable) Write(p []byte) (int, error) {
	c.written.Add(1)
	if take(&c.early) {
		_ = c.Close()
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

func (c *cable) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !take(&c.spared) && take(&c.cuts) {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func take(n *atomic.Int64) bool {
	for {
		left := n.Load()
		if left <= 0 {
			return false
		}
		if n.CompareAndSwap(left, left-1) {
			return true
		}
	}
}
