// Command canon measures package canon beside other ways to a canonical form.
//
//	go run ./canon -rounds 10 -time 50ms
//
// It builds the benchmarks of packages internal/peers and canon, and those of
// encoding/json once more with GOEXPERIMENT=jsonv2, because that has the fastest
// validator: with SHA-256 it is the floor of any way from a text to a key. All of
// them are run in turn, round after round, and compared inside each round.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/effectonce/effectonce/internal/bench/ratio"
)

func main() {
	rounds := flag.Int("rounds", 10, "how often everything is measured; medians of less than 3 rounds say little")
	duration := flag.String("time", "50ms", "how long each benchmark runs in a round, as for -benchtime")
	root := flag.String("root", "../..", "the repository's `folder`")
	raw := flag.String("raw", "", "write what the benchmarks print to this `file`, for benchstat")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *rounds, *duration, *root, *raw)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "canon:", err)
		os.Exit(1)
	}
}

// A binary is a test binary, and what is run of it.
type binary struct {
	name, folder, bench string
	env                 []string
	prefix              string // of its results
}

func run(ctx context.Context, rounds int, duration, root, raw string) error {
	temporary, err := os.MkdirTemp("", "effectonce-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	binaries := []binary{
		{name: "peers", folder: "internal/peers", bench: "."},
		{name: "floor", folder: "internal/peers", bench: "Text/size=/by=(json.Valid|sha256)$", env: []string{"GOEXPERIMENT=jsonv2"}, prefix: "jsonv2 "},
		{name: "canon", folder: "canon", bench: ".", prefix: "canon "},
	}
	for _, b := range binaries {
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(temporary, b.name), ".")
		cmd.Dir, cmd.Env = filepath.Join(root, b.folder), append(os.Environ(), b.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the benchmarks of %s: %w\n%s", b.folder, err, out)
		}
	}
	all := results{}
	var printed bytes.Buffer
	for round := range rounds {
		for _, b := range binaries {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, rounds, b.name)
			cmd := exec.CommandContext(ctx, filepath.Join(temporary, b.name),
				"-test.run=^$", "-test.bench="+b.bench, "-test.benchtime="+duration, "-test.benchmem")
			cmd.Dir, cmd.Stderr = filepath.Join(root, b.folder), os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("run the benchmarks of %s: %w\n%s", b.folder, err, out)
			}
			all.add(b.prefix, string(out))
			if b.name == "peers" {
				printed.Write(out)
			}
		}
	}
	if raw != "" {
		if err := os.WriteFile(raw, printed.Bytes(), 0o666); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d processors, %s; %d rounds of %s for each benchmark. Times as multiples of canon's.\n\n",
		runtime.NumCPU(), runtime.Version(), rounds, duration)
	all.print(os.Stdout)
	return nil
}

// sizes are those of the texts.
var sizes = []string{"200B", "4KB", "256KB"}

func (r results) print(out io.Writer) {
	t := ratio.Table{Head: []string{"text", "canon, ns", "MB/s", "allocs", "jsontext", "gowebpki", "json.Valid", "SHA-256 alone"}}
	for _, size := range sizes {
		of := func(by string) string { return "Text/size=" + size + "/by=" + by }
		t.Add(size, r.median(of("canon"), "ns/op"), r.median(of("canon"), "MB/s"), r.median(of("canon"), "allocs/op"),
			r.times(of("jsontext"), of("canon")), r.times(of("gowebpki"), of("canon")),
			r.times(of("json.Valid"), of("canon")), r.times(of("sha256"), of("canon")))
	}
	t.Print(out)

	t = ratio.Table{Head: []string{"value", "canon, ns", "allocs", "with SHA-256", "json.Marshal", "json.Marshal+gowebpki"}}
	for _, value := range []string{"200B_struct", "4KB_struct", "256KB_struct", "200B_any", "4KB_any", "256KB_any"} {
		of := func(by string) string { return "Value/value=" + value + "/by=" + by }
		t.Add(value, r.median(of("canon"), "ns/op"), r.median(of("canon"), "allocs/op"), r.times(of("canon+sha256"), of("canon")),
			r.times(of("json.Marshal"), of("canon")), r.times(of("json.Marshal+gowebpki"), of("canon")))
	}
	t.Print(out)

	t = ratio.Table{Head: []string{"canon's own benchmarks", "ns/op", "allocs/op"}}
	for _, name := range r.names("canon ") {
		t.Add(name, r.median("canon "+name, "ns/op"), r.median("canon "+name, "allocs/op"))
	}
	t.Print(out)
	_, _ = fmt.Fprint(out, "Goals, by the median of the rounds' ratios:\n\n")
	ratio.Goals(out, r.goals(func(a, b []float64) float64 {
		median, _, _ := ratio.Of(a, b)
		return median
	}))
	_, _ = fmt.Fprint(out, "Goals, by the fastest round of each, which is the one that was disturbed least:\n\n")
	ratio.Goals(out, r.goals(fastest))
}

// goals compares with what was asked for.
func (r results) goals(of func(a, b []float64) float64) (goals []ratio.Goal) {
	add := func(what string, bound float64, most bool, a, b []float64) {
		goals = append(goals, ratio.Goal{What: what, Bound: bound, AtMost: most, Reached: of(a, b)})
	}
	text := func(size, by string) []float64 { return r.of("Text/size="+size+"/by="+by, "ns/op") }
	for i, size := range sizes {
		add("text "+size+": jsontext / canon", []float64{3, 3, 2}[i], false, text(size, "jsontext"), text(size, "canon"))
		add("text "+size+": gowebpki / canon", []float64{10, 10, 6}[i], false, text(size, "gowebpki"), text(size, "canon"))
		floor := sums(r.of("jsonv2 Text/size="+size+"/by=json.Valid", "ns/op"), r.of("jsonv2 Text/size="+size+"/by=sha256", "ns/op"))
		add("text "+size+": canon+SHA-256 / floor", 2, true, text(size, "canon+sha256"), floor)
	}
	for i, size := range sizes[:2] {
		value := "Value/value=" + size + "_struct/by="
		add("struct "+size+": canon+SHA-256 / json.Marshal", []float64{1, 0.5}[i], true, r.of(value+"canon+sha256", "ns/op"), r.of(value+"json.Marshal", "ns/op"))
	}
	return goals
}
