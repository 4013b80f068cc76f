package stores

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkStores measures all ways. It prints tables, and writes what -csv and
// -svg ask for.
func BenchmarkStores(b *testing.B) {
	d := newDatabase(b)
	ways := open(b, all(d))
	read, replay := d.replay(b)
	both := []way{read, replay}
	f, replays := &figures{}, &figures{}

	for _, w := range append(ways, both...) { // connections, prepared statements, pages
		_, err := measure(b.Context(), w, min(64, callers[len(callers)-1]), window()/4)
		require.NoError(b, err, w.name)
	}
	for round := range *rounds {
		fmt.Printf("round %d of %d\n", round+1, *rounds)
		for _, c := range callers {
			f.round(b, round, c, ways)
		}
		replays.round(b, round, 8, both)
	}
	f.print(os.Stdout, ways)
	replays.printReplay(os.Stdout, read.name, replay.name)
	f.printGoals(os.Stdout)
	require.NoError(b, f.write(ways))
	b.ReportMetric(0, "ns/op") // means nothing here
}

// round measures every way once. Each round begins with another one, so that none
// always comes behind the same.
func (f *figures) round(b *testing.B, round, callers int, ways []way) {
	for i := range ways {
		w := ways[(i+round)%len(ways)]
		m, err := quietly(b.Context(), w, callers, window())
		require.NoError(b, err, w.name)
		f.add(round, callers, w.name, m)
	}
}

// quietly measures again while others use more of the machine than -quiet allows,
// ten times at most, and takes the measurement during which they used least.
func quietly(ctx context.Context, w way, callers int, d time.Duration) (best measurement, _ error) {
	for range 10 {
		m, err := measure(ctx, w, callers, d)
		if err != nil {
			return nil, err
		}
		if best == nil || m[foreign] < best[foreign] {
			best = m
		}
		if *noise == 0 || best[foreign] <= *noise {
			break
		}
	}
	return best, nil
}

// The names of what is measured, as in the CSV file.
const (
	rate    = "actions/s"
	p50     = "p50 ms"
	p99     = "p99 ms"
	cpu     = "CPU us/action"
	server_ = "of that, server"
	walled  = "WAL B/action"
	tripped = "round trips/action"
	foreign = "processors that others used"
)

// measurement has a figure for each name; NaN is for what a way does not have or
// the system does not tell.
type measurement map[string]float64

func measure(ctx context.Context, w way, callers int, d time.Duration) (measurement, error) {
	type state struct {
		busy, client, server time.Duration
		wal, trips           int64
	}
	var states []state
	var problem error
	snap := func() {
		s := state{busy: busy(), client: self()}
		if w.server.pid != 0 {
			s.server = spent(w.server.pid)
		}
		if w.server.wal != nil {
			s.wal, problem = w.server.wal(ctx)
		}
		if w.trips != nil {
			s.trips = w.trips.Load()
		}
		states = append(states, s)
	}
	durations, took, err := work(ctx, callers, d, w.do, snap)
	if err == nil {
		err = problem
	}
	if err != nil {
		return nil, err
	}
	n, from, to := len(durations), states[0], states[1]
	client, server := to.client-from.client, to.server-from.server
	m := measurement{
		rate: float64(n) / took.Seconds(), p50: at(durations, 0.5), p99: at(durations, 0.99),
		cpu: per(client+server, n), server_: per(server, n), walled: math.NaN(), tripped: math.NaN(),
		foreign: max(0, (to.busy-from.busy-client-server).Seconds()/took.Seconds()),
	}
	if w.server.wal != nil {
		m[walled] = float64(to.wal-from.wal) / float64(n)
	}
	if w.trips != nil {
		m[tripped] = float64(to.trips-from.trips) / float64(n)
	}
	return m, nil
}

// TestWays does some actions in each way. It says nothing about speed.
func TestWays(t *testing.T) {
	d := newDatabase(t)
	for _, w := range open(t, all(d)) {
		t.Run(w.name, func(t *testing.T) {
			m, err := measure(t.Context(), w, 4, 20*time.Millisecond)
			require.NoError(t, err)
			require.Positive(t, m[rate])
			require.Positive(t, m[p50])
			require.LessOrEqual(t, m[p50], m[p99])
			if w.server.wal != nil {
				require.Positive(t, m[walled])
				require.Positive(t, m[tripped])
			}
		})
	}
}

// TestReplay also shows what the answer to a question asked again costs: one round
// trip, and nothing that has to reach a disk.
func TestReplay(t *testing.T) {
	d := newDatabase(t)
	read, replay := d.replay(t)
	for _, w := range []way{read, replay} {
		m, err := measure(t.Context(), w, 1, 20*time.Millisecond) // prepares statements
		require.NoError(t, err)
		least := math.Inf(1)
		for range 200 { // the server writes down things of its own at times
			m, err = measure(t.Context(), w, 1, 20*time.Millisecond)
			require.NoError(t, err)
			if least = min(least, m[walled]); least == 0 {
				break
			}
		}
		require.Zero(t, least, "WAL of %s", w.name)
		require.InDelta(t, 1, m[tripped], 0.05, "round trips of %s", w.name)
	}
}
