// Package ratio turns figures that were taken in rounds into medians, ratios and
// tables.
//
// Speed on a machine that does other work too changes from minute to minute. So
// what is compared is measured in turn, round after round; a ratio is taken inside
// each round, and the median of these ratios is told.
package ratio

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Median is the middle one of the figures, or the mean of the two in the middle;
// NaN if there are none. Figures that are NaN do not count.
func Median(figures []float64) float64 {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(figures)), math.IsNaN)
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Of is the median over the rounds of a in terms of b, and the smallest and the
// largest of them. All are NaN if there is no round that has both.
func Of(a, b []float64) (median, least, most float64) {
	var all []float64
	for i := range min(len(a), len(b)) {
		if q := a[i] / b[i]; !math.IsNaN(q) && !math.IsInf(q, 0) {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return Median(all), slices.Min(all), slices.Max(all)
}

// Goal is a bound of a ratio.
type Goal struct {
	What    string
	Bound   float64
	AtMost  bool // the ratio is to be at most Bound, and at least Bound otherwise
	Reached float64
}

// Verdict is "yes", "no", or "not measured".
func (g Goal) Verdict() string {
	switch {
	case math.IsNaN(g.Reached):
		return "not measured"
	case g.AtMost == (g.Reached <= g.Bound) || g.Reached == g.Bound:
		return "yes"
	}
	return "no"
}

// Goals prints goals as a table.
func Goals(out io.Writer, goals []Goal) {
	t := Table{Head: []string{"goal", "bound", "measured", "reached"}}
	for _, g := range goals {
		sign := "≥ "
		if g.AtMost {
			sign = "≤ "
		}
		t.Add(g.What, sign+Figure(g.Bound), Figure(g.Reached), g.Verdict())
	}
	t.Print(out)
}

// Figure writes a figure with about three digits, and "–" for NaN.
func Figure(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "–"
	case a >= 99.5 || f == math.Trunc(f) && a >= 10:
		return fmt.Sprintf("%.0f", f)
	case a >= 9.95:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}

// Table is printed in Markdown that is legible as it is.
type Table struct {
	Head []string
	rows [][]string
}

// Add adds a row. Cells that are missing are empty.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print prints the table, and an empty line.
func (t *Table) Print(out io.Writer) {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string) {
		for i, w := range width {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			fill := strings.Repeat(" ", w-utf8.RuneCountInString(cell))
			if i == 0 {
				cell += fill // names to the left, figures to the right
			} else {
				cell = fill + cell
			}
			_, _ = fmt.Fprintf(out, "| %s ", cell)
		}
		_, _ = fmt.Fprintln(out, "|")
	}
	line(t.Head)
	for i, w := range width {
		rule := strings.Repeat("-", w)
		if i > 0 {
			rule = rule[1:] + ":"
		}
		_, _ = fmt.Fprintf(out, "| %s ", rule)
	}
	_, _ = fmt.Fprintln(out, "|")
	for _, row := range t.rows {
		line(row)
	}
	_, _ = fmt.Fprintln(out)
}
