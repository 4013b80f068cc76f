package main

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/effectonce/effectonce/internal/bench/ratio"
)

// results are the figures of benchmarks by name and unit, round by round.
type results map[string]map[string][]float64

// benchmarkLine has the name, without the number of processors, the number of
// iterations, and figures with units.
var benchmarkLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// add takes what a test binary printed in a round.
func (r results) add(prefix, output string) {
	for _, line := range benchmarkLine.FindAllStringSubmatch(output, -1) {
		name, fields := prefix+line[1], strings.Fields(line[2])
		if r[name] == nil {
			r[name] = map[string][]float64{}
		}
		for i := 0; i+1 < len(fields); i += 2 {
			if f, err := strconv.ParseFloat(fields[i], 64); err == nil {
				r[name][fields[i+1]] = append(r[name][fields[i+1]], f)
			}
		}
	}
}

func (r results) of(name, unit string) []float64 { return r[name][unit] }

func (r results) median(name, unit string) string {
	return ratio.Figure(ratio.Median(r.of(name, unit)))
}

// times is how much longer a takes than b.
func (r results) times(a, b string) string {
	median, _, _ := ratio.Of(r.of(a, "ns/op"), r.of(b, "ns/op"))
	return ratio.Figure(median) + "x"
}

// names are those with a prefix, without it.
func (r results) names(prefix string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if name, found := strings.CutPrefix(name, prefix); found {
			names = append(names, name)
		}
	}
	return names
}

// fastest is the ratio of the least a and the least b. Other work on the machine
// only ever adds to what a computation takes.
func fastest(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	return slices.Min(a) / slices.Min(b)
}

// sums adds round by round.
func sums(a, b []float64) (all []float64) {
	for i := range min(len(a), len(b)) {
		all = append(all, a[i]+b[i])
	}
	return all
}
