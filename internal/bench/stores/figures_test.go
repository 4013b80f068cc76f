package stores

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/bench/plot"
	"github.com/effectonce/effectonce/internal/bench/ratio"
)

// figures are all measurements of a run, in the order in which they were taken.
type figures struct{ rows []figure }

type figure struct {
	round, callers int
	way            string
	measurement
}

func (f *figures) add(round, callers int, way string, m measurement) {
	f.rows = append(f.rows, figure{round, callers, way, m})
}

// of are the figures of a way, round by round.
func (f *figures) of(way string, callers int, name string) (values []float64) {
	for _, r := range f.rows {
		if r.way == way && r.callers == callers {
			values = append(values, r.measurement[name])
		}
	}
	return values
}

func (f *figures) ratio(name, way, to string, callers int) float64 {
	median, _, _ := ratio.Of(f.of(way, callers, name), f.of(to, callers, name))
	return median
}

func (f *figures) print(out io.Writer, ways []way) {
	fmt.Fprintf(out, "\n%s; %d rounds of %v; pools of %d connections", machine(), *rounds, window(), connections)
	if *slow {
		fmt.Fprint(out, "; PostgreSQL with 1 ms more for a commit, and 0.5 ms for a round trip")
	}
	var used []float64
	for _, r := range f.rows {
		used = append(used, r.measurement[foreign])
	}
	fmt.Fprintf(out, ".\nOthers used %s processors at the same time (median).\n\n", ratio.Figure(ratio.Median(used)))
	for _, w := range ways {
		fmt.Fprintf(out, "- %s: %s\n", w.name, w.does)
	}
	fmt.Fprintln(out)

	table := func(title string, cell func(w way, c int) string) {
		t := ratio.Table{Head: []string{title}}
		for _, c := range callers {
			t.Head = append(t.Head, fmt.Sprintf("c=%d", c))
		}
		for _, w := range ways {
			row := []string{w.name}
			for _, c := range callers {
				row = append(row, cell(w, c))
			}
			t.Add(row...)
		}
		t.Print(out)
	}
	median := func(name string) func(way, int) string {
		return func(w way, c int) string { return ratio.Figure(ratio.Median(f.of(w.name, c, name))) }
	}
	table("actions/s against the floor (least–most of the rounds)", func(w way, c int) string {
		m, least, most := ratio.Of(f.of(w.name, c, rate), f.of("floor", c, rate))
		return fmt.Sprintf("%s (%s–%s)", ratio.Figure(m), ratio.Figure(least), ratio.Figure(most))
	})
	table("actions per second of CPU, against the floor", func(w way, c int) string {
		m, _, _ := ratio.Of(f.of("floor", c, cpu), f.of(w.name, c, cpu))
		return ratio.Figure(m)
	})
	table("actions/s (medians; not to be compared with other runs)", median(rate))
	table("p50 / p99 of an action, ms", func(w way, c int) string { return median(p50)(w, c) + " / " + median(p99)(w, c) })
	table("CPU of client and server, us/action", median(cpu))
	table("WAL of PostgreSQL, B/action", median(walled))
	table("round trips to PostgreSQL per action", median(tripped))
}

// printReplay tells what it costs to ask again for what is done.
func (f *figures) printReplay(out io.Writer, read, replay string) {
	least := func(way string) float64 {
		low := math.Inf(1)
		for _, v := range f.of(way, 8, walled) {
			low = min(low, v)
		}
		return low
	}
	t := ratio.Table{Head: []string{"replay, c=8", "of a SELECT's rate", "p50, ms", "round trips", "WAL, B (least of the rounds)"}}
	for _, w := range []string{read, replay} {
		t.Add(w, ratio.Figure(f.ratio(rate, w, read, 8)), ratio.Figure(ratio.Median(f.of(w, 8, p50))),
			ratio.Figure(ratio.Median(f.of(w, 8, tripped))), ratio.Figure(least(w)))
	}
	t.Print(out)
}

// printGoals compares with what was asked for.
func (f *figures) printGoals(out io.Writer) {
	var goals []ratio.Goal
	least := func(way, to string, c int, fast, slowly float64) {
		bound := fast
		if *slow {
			bound = slowly
		}
		if bound > 0 {
			goals = append(goals, ratio.Goal{What: fmt.Sprintf("%s / %s, c=%d", way, to, c), Bound: bound, Reached: f.ratio(rate, way, to, c)})
		}
	}
	least("postgres", "floor", 1, 0.90, 0)
	least("postgres", "floor", 8, 0.85, 0)
	least("postgres", "floor", 64, 2.7, 1.6)
	least("postgres", "floor", 256, 5, 4.5)
	least("postgres", "same features by hand", 64, 4.5, 0)
	least("postgres", "same features by hand", 256, 8, 0)
	least("postgres", "DBOS step", 1, 1.2, 2)
	least("postgres", "DBOS step", 64, 5, 3)
	least("postgres", "DBOS step", 256, 12, 8)
	least("postgres", "River insert", 64, 4.5, 2)
	least("postgres", "River insert", 256, 8, 5)
	least("sqlite", "sqlite NoLane", 1, 0.75, 0)
	least("sqlite", "sqlite NoLane", 64, 5, 0)
	least("redis", "redis NoLane", 64, 1.3, 0)
	if !*slow {
		most := func(what, name string, c int, bound float64) {
			goals = append(goals, ratio.Goal{What: fmt.Sprintf("postgres / floor, %s, c=%d", what, c), Bound: bound, AtMost: true,
				Reached: f.ratio(name, "postgres", "floor", c)})
		}
		most("CPU", cpu, 64, 0.33)
		most("CPU", cpu, 256, 0.2)
		most("p99", p99, 1, 1.5)
		most("p99", p99, 64, 0.5)
		goals = append(goals, ratio.Goal{What: "postgres, WAL B/action, c=64", Bound: 1350, AtMost: true,
			Reached: ratio.Median(f.of("postgres", 64, walled))})
	}
	ratio.Goals(out, goals)
}

// write writes the files that were asked for.
func (f *figures) write(ways []way) error {
	if *csvFile != "" {
		if err := create(*csvFile, f.writeCSV); err != nil {
			return err
		}
	}
	if *svgFile == "" {
		return nil
	}
	var x []float64
	for _, c := range callers {
		x = append(x, float64(c))
	}
	var lines []plot.Line
	for _, w := range ways {
		line := plot.Line{Name: w.name}
		for _, c := range callers {
			line.Y = append(line.Y, ratio.Median(f.of(w.name, c, rate)))
		}
		lines = append(lines, line)
	}
	return create(*svgFile, func(out io.Writer) error {
		return plot.Draw(out, "Actions a second, claim and completion", "callers at a time", "actions/s", x, lines)
	})
}

func create(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

func (f *figures) writeCSV(file io.Writer) error {
	names := []string{rate, p50, p99, cpu, server_, walled, tripped, foreign}
	out := csv.NewWriter(file)
	_ = out.Write(append([]string{"round", "way", "callers"}, names...))
	for _, r := range f.rows {
		row := []string{strconv.Itoa(r.round + 1), r.way, strconv.Itoa(r.callers)}
		for _, name := range names {
			value := ""
			if v := r.measurement[name]; !math.IsNaN(v) {
				value = strconv.FormatFloat(v, 'g', 5, 64)
			}
			row = append(row, value)
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

func TestFigures(t *testing.T) {
	t.Parallel()
	f := &figures{}
	for round, speed := range []float64{100, 50, 200} { // of the machine
		f.add(round, 8, "floor", measurement{rate: speed, walled: 500})
		f.add(round, 8, "postgres", measurement{rate: 3 * speed, walled: math.NaN()})
		f.add(round, 64, "postgres", measurement{rate: 1})
	}
	assert.Equal(t, []float64{300, 150, 600}, f.of("postgres", 8, rate))
	assert.Equal(t, 3.0, f.ratio(rate, "postgres", "floor", 8))
	assert.True(t, math.IsNaN(f.ratio(rate, "postgres", "floor", 64)), "the floor was not measured there")

	file := t.TempDir() + "/figures.csv"
	require.NoError(t, create(file, f.writeCSV))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "\n2,floor,8,50,0,0,0,0,500,0,0\n2,postgres,8,150,0,0,0,0,,0,0\n")
}
