package demo

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/effectonce/effectonce/internal/provider"
)

// line is one line of the table: a row with what became of its trials.
type line struct {
	row           row
	without, with result
}

// result is what became of one trial.
type result struct {
	asked, bodies int
	effects       map[string]int // by kind
	err           error          // the play did not go as it should
	note          string         // for below the table
}

// faults returns everything in which the line is not as promised.
func (l line) faults() []string {
	var faults []string
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("row %s, %s", l.row.id, fmt.Sprintf(format, args...)))
	}
	if l.without.err != nil {
		fault("without effectonce: %v", l.without.err)
	}
	if l.with.err != nil {
		fault("with effectonce: %v", l.with.err)
	}
	for _, kind := range l.row.kinds {
		k := string(kind)
		if got := l.with.effects[k]; got != l.row.promised {
			fault("with effectonce: effects of kind %s: %d, promised are %d", k, got, l.row.promised)
		}
		if got := l.without.effects[k]; l.row.harmless && got != l.row.promised {
			fault("without effectonce: effects of kind %s: %d, expected are %d", k, got, l.row.promised)
		} else if !l.row.harmless && got <= l.row.promised {
			fault("without effectonce: effects of kind %s: %d, so this row shows nothing", k, got)
		}
	}
	for k := range l.with.effects {
		if !slices.ContainsFunc(l.row.kinds, func(known provider.Kind) bool { return string(known) == k }) {
			fault("with effectonce: effects of kind %s, which nobody asked for", k)
		}
	}
	return faults
}

// count writes the number of effects, of each kind if there are several.
func (l line) count(r result) string {
	var numbers []string
	for _, k := range l.row.kinds {
		numbers = append(numbers, strconv.Itoa(r.effects[string(k)]))
	}
	if distinct := slices.Compact(slices.Clone(numbers)); len(distinct) > 1 {
		return strings.Join(numbers, "+")
	}
	if len(numbers) > 1 {
		return numbers[0] + " per tool"
	}
	return numbers[0]
}

func (l line) cells() []string {
	verdict := "as promised"
	if len(l.faults()) > 0 {
		verdict = "BROKEN"
	}
	scope := string(l.row.scope)
	return []string{
		l.row.id, l.row.title, strings.ToUpper(scope[:1]) + scope[1:] + ", " + string(l.row.unknown),
		strconv.Itoa(l.with.asked), strconv.Itoa(l.with.bodies), l.count(l.without), l.count(l.with), verdict,
	}
}

const explanation = `
Each scenario ran twice on a real Temporal server: without effectonce, and with it. An effect is an entry in the
journal of the provider that the tools call. Asked is how often Temporal delivered a call of a tool, bodies run how
often that ran the tool's code: both with effectonce; without it, every delivery runs the code.
`

// printTable prints the result of the demo.
func printTable(out io.Writer, lines []line, took time.Duration) {
	table := [][]string{
		{"", "scenario", "policy", "times", "bodies", "effects", "effects", "result"},
		{"", "", "", "asked", "run", "without", "with", ""},
	}
	for _, l := range lines {
		table = append(table, l.cells())
	}
	say(out, "%s", explanation)
	for _, text := range align(table) {
		say(out, "%s", text)
	}
	say(out, "")
	for _, l := range lines {
		for _, note := range []string{l.without.note, l.with.note} {
			if note != "" {
				say(out, "%s", note)
			}
		}
	}
	for _, l := range lines {
		for _, fault := range l.faults() {
			say(out, "BROKEN %s", fault)
		}
	}
	say(out, "Took %.0fs.", took.Seconds())
}

// align pads the cells of each column to the same width.
func align(table [][]string) []string {
	widths := make([]int, len(table[0]))
	for _, cells := range table {
		for i, cell := range cells {
			widths[i] = max(widths[i], len(cell))
		}
	}
	texts := make([]string, len(table))
	for n, cells := range table {
		var text strings.Builder
		for i, cell := range cells {
			fmt.Fprintf(&text, "%-*s  ", widths[i], cell)
		}
		texts[n] = strings.TrimRight(text.String(), " ")
	}
	return texts
}
