package stores

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// crew is a number of callers who do actions at the same time, for a while. All
// begin together, once each is ready, and none does anything after the end until
// the figures have been taken.
type crew struct {
	ready, over sync.WaitGroup
	begin, end  chan struct{}
	until       time.Time // readable after begin
}

// turn is one caller's.
type turn struct {
	crew        *crew
	begun, over bool
	last        time.Time
	took        []time.Duration
}

// next says whether to do another action. It is the clock, too: an action is what
// is done between two calls.
func (t *turn) next() bool {
	if !t.begun {
		t.begun = true
		t.crew.ready.Done()
		<-t.crew.begin
		t.last = time.Now()
	} else {
		now := time.Now()
		t.took = append(t.took, now.Sub(t.last))
		t.last = now
	}
	if t.last.Before(t.crew.until) {
		return true
	}
	t.leave()
	<-t.crew.end
	return false
}

// leave is for a caller that failed, too.
func (t *turn) leave() {
	if !t.begun {
		t.begun = true
		t.crew.ready.Done()
	}
	if !t.over {
		t.over = true
		t.crew.over.Done()
	}
}

// work has n callers work for d. It calls snap right before the first action and
// right after the last. The durations of all actions come sorted.
func work(ctx context.Context, n int, d time.Duration, do func(context.Context, *turn) error, snap func()) ([]time.Duration, time.Duration, error) {
	c := &crew{begin: make(chan struct{}), end: make(chan struct{})}
	c.ready.Add(n)
	c.over.Add(n)
	turns := make([]turn, n)
	problems := make([]error, n)
	var all sync.WaitGroup
	for i := range turns {
		turns[i].crew = c
		all.Go(func() {
			defer turns[i].leave()
			problems[i] = do(ctx, &turns[i])
		})
	}
	c.ready.Wait()
	snap()
	begin := time.Now()
	c.until = begin.Add(d)
	close(c.begin)
	c.over.Wait()
	took := time.Since(begin)
	snap()
	close(c.end)
	all.Wait()

	var durations []time.Duration
	for i := range turns {
		durations = append(durations, turns[i].took...)
	}
	slices.Sort(durations)
	err := errors.Join(problems...)
	if err == nil && len(durations) == 0 {
		err = errors.New("nobody did anything")
	}
	return durations, took, err
}

// each does one action after the other.
func each(action func(context.Context) error) func(context.Context, *turn) error {
	return func(ctx context.Context, t *turn) error {
		for t.next() {
			if err := action(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// at is the p-th part of sorted durations, in milliseconds.
func at(sorted []time.Duration, p float64) float64 {
	return sorted[int(p*float64(len(sorted)-1))].Seconds() * 1e3
}
