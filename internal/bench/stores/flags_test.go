package stores

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/internal/services"
)

var (
	callers = numbers{1, 8, 64, 256}
	rounds  = flag.Int("rounds", 3, "how often all ways are measured; medians of less than 3 rounds say little")
	seconds = flag.Float64("seconds", 2, "how long a way is measured in a round")
	only    = flag.String("ways", "", "measure only these `ways`, with commas between; the floor is always measured")
	slow    = flag.Bool("slow", false, "add 1 ms to each commit and 0.5 ms to each round trip of PostgreSQL, as a cloud's disk and network do")
	noise   = flag.Float64("quiet", 0, "measure again while others use more `processors` than that; 0: take it as it comes")
	csvFile = flag.String("csv", "", "write all figures to this `file`")
	svgFile = flag.String("svg", "", "draw actions a second to this `file`")
	largest = flag.Int("growth", 1_000_000, "BenchmarkGrowth fills the store up to so many `rows`")
	expired = flag.Int("purge", 400_000, "BenchmarkGrowth then has the outcomes of so many more `rows` dropped")
)

func TestMain(m *testing.M) {
	flag.Var(&callers, "c", "numbers of callers at a time, with `commas` between")
	flag.Parse()
	services.Main(m)
}

func window() time.Duration { return time.Duration(*seconds * float64(time.Second)) }

type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

func (n *numbers) Set(text string) error {
	*n = nil
	for _, field := range strings.Split(text, ",") {
		i, err := strconv.Atoi(field)
		if err != nil || i < 1 {
			return fmt.Errorf("%q is no number of callers", field)
		}
		*n = append(*n, i)
	}
	return nil
}
