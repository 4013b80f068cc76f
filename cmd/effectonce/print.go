package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/effectonce/effectonce/store"
)

func (c *cli) println(line string) error {
	_, err := fmt.Fprintln(c.out, line)
	return err
}

func (c *cli) printJSON(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table is text in aligned columns.
type table struct{ rows [][]string }

func newTable(header ...string) *table {
	t := &table{}
	if len(header) > 0 {
		t.rows = append(t.rows, header)
	}
	return t
}

func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = clean(cell)
	}
	t.rows = append(t.rows, cells)
}

func (c *cli) print(t *table) error {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, cells := range t.rows {
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(aligned.String()) {
		if err := c.println(strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// clean quotes what could move the cursor, or pretend to be another line: names and
// reasons come from anywhere.
func clean(text string) string {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(text, unprintable) {
		return strconv.Quote(text)
	}
	return text
}

// moment is a time for people, and nothing for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func stateOf(r store.Record) string {
	if r.Uncertain() && r.State != store.Unknown {
		return string(r.State) + " (overdue)"
	}
	return string(r.State)
}

func scopeOf(r store.Record) string {
	if r.ScopeID == "" {
		return r.ScopeKind
	}
	return r.ScopeKind + ":" + r.ScopeID
}
