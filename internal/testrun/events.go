package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of "go test -json".
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// tally counts tests. A test with subtests counts once for each.
type tally struct {
	passed, failed int
	skipped        []string
}

func (t *tally) print(out io.Writer) {
	for _, skip := range t.skipped {
		_, _ = fmt.Fprintf(out, "skipped: %s\n", skip)
	}
	_, _ = fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, len(t.skipped))
}

// reader turns events back into what "go test" prints without -json.
type reader struct {
	out     io.Writer
	total   *tally
	partial []byte
	tests   map[[2]string]*strings.Builder // output of tests that have not ended
	order   [][2]string
}

func newReader(out io.Writer, total *tally) *reader {
	return &reader{out: out, total: total, tests: map[[2]string]*strings.Builder{}}
}

func (r *reader) Write(p []byte) (int, error) {
	r.partial = append(r.partial, p...)
	for {
		line, rest, found := bytes.Cut(r.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		r.line(line)
		r.partial = rest
	}
}

// finish prints what is left of tests that never ended, because their process
// did: a panic, a timeout, a kill.
func (r *reader) finish() {
	if len(r.partial) > 0 {
		r.line(r.partial)
		r.partial = nil
	}
	for _, key := range r.order {
		if output := r.tests[key]; output != nil {
			r.print(output.String())
		}
	}
	r.tests, r.order = map[[2]string]*strings.Builder{}, nil
}

func (r *reader) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.print(string(line) + "\n") // go itself speaking
		return
	}
	if e.Test == "" {
		// Build errors and the package's own lines: "ok …", "FAIL …", panics.
		if e.Output != "" && e.Output != "PASS\n" {
			r.print(e.Output)
		}
		return
	}
	key := [2]string{e.Package, e.Test}
	output := r.tests[key]
	if output == nil {
		output = &strings.Builder{}
		r.tests[key] = output
		r.order = append(r.order, key)
	}
	switch e.Action {
	case "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			output.WriteString(e.Output)
		}
		return
	case "pass":
		r.total.passed++
	case "fail":
		r.total.failed++
		r.print(output.String())
	case "skip":
		r.total.skipped = append(r.total.skipped,
			fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(output.String())))
	default:
		return
	}
	delete(r.tests, key)
}

// reason is what the test said, without its closing line.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--- SKIP") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func (r *reader) print(text string) { _, _ = io.WriteString(r.out, text) }
