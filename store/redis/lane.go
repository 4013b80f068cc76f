package redis

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	driver "github.com/redis/go-redis/v9"
)

// The calls of all goroutines share a few connections: each lane takes all that is
// waiting and sends it as one pipeline. While it is under way, the next ones gather.
// There is no timer, and no goroutine while there is nothing to do.
//
// A server reads 16 KB of each connection in turn, and with appendfsync always waits for
// its disk after each turn. What a batch has beyond that takes further turns, while what
// other connections have sent is done in the same one: hence several lanes, with batches
// of about that size.
const (
	lanes    = 12
	maxBatch = 12
)

// newLine returns the queue before the lanes. Without lanes to share, each job has one
// of its own.
func newLine(server *server, opts Options) *line {
	l := &line{server: server, timeout: opts.Timeout, lanes: lanes, batch: maxBatch}
	if opts.NoLane {
		l.lanes, l.batch = math.MaxInt, 1
	}
	return l
}

// job is one script to be run. It is sent until there is a definite answer, or its
// time is over: a script recognises what an earlier try of the same call has done.
type job struct {
	script  *script
	keys    []string
	args    []any
	durable bool // its answer is worth nothing without the replicas

	done  chan struct{} // closed when reply and err are there
	reply reply
	err   error

	deadline time.Time // set when it is sent first
	inFull   bool      // the server does not know the script
	left     bool      // nobody waits any more; guarded by line.mu, like sent
	sent     bool
}

func (j *job) deliver(r reply, err error) {
	j.reply, j.err = r, err
	close(j.done)
}

// line is the queue before the lanes.
type line struct {
	server  *server
	timeout time.Duration
	lanes   int
	batch   int // how many jobs a lane takes at a time

	mu      sync.Mutex
	waiting []*job
	busy    int // lanes at work
	closed  bool
	running sync.WaitGroup
}

func (l *line) add(jobs ...*job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.waiting = append(l.waiting, jobs...)
	for n := 0; n < len(jobs) && l.busy < l.lanes; n += l.batch {
		l.busy++
		l.running.Go(l.work)
	}
	return nil
}

// leave says that nobody waits for j any more. It returns true if j will never be sent.
func (l *line) leave(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	j.left = true
	return !j.sent
}

func (l *line) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.running.Wait()
}

func (l *line) work() {
	var again []*job
	for pause := time.Duration(0); ; {
		batch := l.take(again)
		if len(batch) == 0 {
			return
		}
		var trouble bool
		if again, trouble = l.send(batch); !trouble {
			pause = 0
			continue
		}
		pause = min(max(2*pause, 5*time.Millisecond), 500*time.Millisecond)
		<-time.After(pause)
	}
}

// take returns what is to be sent next: again, and what has gathered. If that is
// nothing, the lane ends.
func (l *line) take(again []*job) []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, n := again, 0
	for ; n < len(l.waiting) && len(batch) < l.batch; n++ {
		if j := l.waiting[n]; !j.left {
			j.sent, j.deadline = true, time.Now().Add(l.timeout)
			batch = append(batch, j)
		}
	}
	if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	if len(batch) == 0 {
		l.busy--
	}
	return batch
}

// send sends a batch, delivers what was answered and returns what is to be sent again:
// after a pause, if there was trouble.
func (l *line) send(batch []*job) (again []*job, trouble bool) {
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	defer cancel()
	node, err := l.server.node(ctx)
	if err != nil {
		return retry(batch, err), true
	}
	pipe := node.Pipeline()
	answers := make([]*driver.Cmd, len(batch))
	durable := false
	for i, j := range batch {
		if j.inFull {
			answers[i] = pipe.Eval(ctx, j.script.text, j.keys, j.args...)
		} else {
			answers[i] = pipe.EvalSha(ctx, j.script.hash, j.keys, j.args...)
		}
		durable = durable || j.durable
	}
	acks := l.server.wait(ctx, pipe, durable)
	_, broken := pipe.Exec(ctx)
	acked, err := acks()
	if err != nil {
		return retry(batch, err), true
	}
	for i, j := range batch {
		value, err := answers[i].Result()
		switch {
		case err == nil && value == nil: // the connection broke before its turn came
			again, trouble = append(again, retry([]*job{j}, broken)...), true
		case err == nil:
			r, err := parseReply(value)
			r.acked = acked
			j.deliver(r, err)
		case driver.HasErrorPrefix(err, "NOSCRIPT") && !j.inFull:
			j.inFull = true
			again = append(again, j)
		case passing(err):
			l.server.moved(ctx)
			again, trouble = append(again, retry([]*job{j}, err)...), true
		default:
			j.deliver(reply{}, err)
		}
	}
	return again, trouble
}

// retry returns the jobs whose time is not over yet; the others fail with err.
func retry(batch []*job, err error) (again []*job) {
	for _, j := range batch {
		if errors.Is(err, driver.ErrClosed) || time.Now().After(j.deadline) {
			j.deliver(reply{}, err)
		} else {
			again = append(again, j)
		}
	}
	return again
}
