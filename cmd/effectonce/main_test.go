package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/store/sqlite"
)

// What takes two at once, or a store that misbehaves, is tried here; the rest in
// testdata/script, with the program itself.

// faulty is a store in which something happens just before or after an amendment.
type faulty struct {
	*memory.Store
	before func(seen store.Record)
	answer error // instead of the store's own
}

func (f faulty) Amend(ctx context.Context, seen store.Record, c store.Change) (store.Record, error) {
	if f.before != nil {
		f.before(seen)
	}
	r, err := f.Store.Amend(ctx, seen, c)
	if f.answer != nil {
		return store.Record{}, f.answer
	}
	return r, err
}

// run runs one command line on a store.
func run(s store.Store, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	c := &cli{in: strings.NewReader(""), out: &out, errs: &errs, url: "memory:"}
	c.open = func(ctx context.Context, url string) (*storeurl.Opened, error) {
		opened, err := storeurl.Open(ctx, url, storeurl.Options{})
		if err == nil {
			opened.Store = s
		}
		return opened, err
	}
	code = c.main(context.Background(), args)
	return code, out.String(), errs.String()
}

func seeded(t *testing.T) (*memory.Store, map[string]string) {
	t.Helper()
	s := memory.New(memory.Options{})
	keys, err := seed(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return s, keys
}

func record(t *testing.T, s *memory.Store, text string) store.Record {
	t.Helper()
	k, err := key.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Lookup(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLateSuccessBeatsTheOperator(t *testing.T) {
	t.Parallel()
	s, keys := seeded(t)
	f := faulty{Store: s, before: func(seen store.Record) {
		if _, err := s.Report(t.Context(), seen.Claim(), store.Change{Verb: store.Complete, Outcome: plain(`"real"`)}); err != nil {
			t.Error(err)
		}
	}}
	code, out, errs := run(f, "resolve", keys["UNKNOWN"], "--not-applied", "--settle=0s", "--why=w")
	if code != 1 || strings.Contains(out, "\nnow") {
		t.Errorf("exit code %d, output %q", code, out)
	}
	if want := "changed meanwhile: the record is now completed, fence 1, generation 1; nothing was changed by this command"; !strings.Contains(errs, want) {
		t.Errorf("got %q, want %q", errs, want)
	}
	if r := record(t, s, keys["UNKNOWN"]); r.State != store.Completed || string(r.Outcome.Data) != `"real"` {
		t.Errorf("the record is %s with %v", r.State, r.Outcome)
	}
}

func TestOwnerCameBack(t *testing.T) {
	t.Parallel()
	s, keys := seeded(t)
	f := faulty{Store: s, before: func(seen store.Record) {
		if lost, err := s.Renew(t.Context(), time.Minute, []store.Claim{seen.Claim()}); err != nil || len(lost) > 0 {
			t.Errorf("lost %v, error %v", lost, err)
		}
	}}
	code, _, errs := run(f, "resolve", keys["OVERDUE"], "--applied", "--no-result", "--why=w")
	if code != 1 || !strings.Contains(errs, "changed meanwhile: the record is now in_flight, ") {
		t.Errorf("exit code %d, error %q", code, errs)
	}
}

func TestAnswersOfTheStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer error
		code   int
		says   string
	}{
		{"AnswerLost", errors.New("unexpected EOF"), 3, `maybe changed: unexpected EOF; run "effectonce show eo1_`},
		{"Interrupted", context.Canceled, 3, "maybe changed: context canceled"},
		{"Busy", fmt.Errorf("amend: %w", sqlite.ErrBusy), 1, "nothing was changed: amend: file is locked"},
		{"Corrupt", store.ErrCorrupt, 1, "nothing was changed: record cannot be read"},
		{"Gone", store.ErrNotFound, 1, "nothing was changed: no such record"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, keys := seeded(t)
			code, out, errs := run(faulty{Store: s, answer: c.answer}, "forget", keys["COMPLETED"], "--why=w")
			if code != c.code || !strings.Contains(errs, c.says) || strings.Contains(out, "\nnow") {
				t.Errorf("exit code %d, want %d; error %q, want %q; output %q", code, c.code, errs, c.says, out)
			}
		})
	}
}

func TestSettlesFor30SecondsByDefault(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := memory.New(memory.Options{Clock: func() time.Time { return now }})
	keys, err := seed(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(29 * time.Second)
	code, _, errs := run(s, "resolve", keys["UNKNOWN"], "--not-applied", "--why=w")
	if code != 1 || !strings.Contains(errs, "(in 1s)") {
		t.Errorf("after 29s: exit code %d, error %q", code, errs)
	}
	now = now.Add(2 * time.Second)
	if code, _, errs = run(s, "resolve", keys["UNKNOWN"], "--not-applied", "--why=w"); code != 0 {
		t.Errorf("after 31s: exit code %d, error %q", code, errs)
	}
}

func TestStoreThatCannotBeListed(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	code, _, errs := run(struct{ store.Store }{s}, "list")
	if code != 1 || !strings.Contains(errs, "this kind of store cannot be listed: memory:") {
		t.Errorf("exit code %d, error %q", code, errs)
	}
}

func TestListReadsPageByPage(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	const all = 2*store.MaxLimit + 1
	for i := range all {
		k, err := key.Digest(t.Name(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := (seedling{lease: time.Minute, remaining: time.Minute}).plant(t.Context(), s, k); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		limit, want int
		more        bool
	}{
		{1, 1, true},
		{store.MaxLimit, store.MaxLimit, true},
		{all - 1, all - 1, true},
		{all, all, false},
		{all + 1, all, false},
		{10 * store.MaxLimit, all, false},
	} {
		code, out, errs := run(s, "list", "--json", fmt.Sprint("--limit=", c.limit))
		seen := map[string]bool{}
		for line := range strings.Lines(out) {
			seen[line] = true
		}
		if code != 0 || len(seen) != c.want || strings.Count(out, "\n") != c.want || strings.Contains(errs, "There are more") != c.more {
			t.Errorf("limit %d: exit code %d, %d records, want %d; %q, want more %t", c.limit, code, len(seen), c.want, errs, c.more)
		}
	}
}

// The names in JSON are a promise to programs.
func TestShapesAreKept(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	r := store.Record{
		Ref: store.Ref{Key: key.Key{1}}, Namespace: "default", ScopeKind: "tenant", ScopeID: "acme", Tenant: "acme",
		Operation: "Refund", Intent: "turn-1", WorkflowID: "wf", RunID: "run", Attempt: 2,
		State: store.InFlight, Fence: 3, Generation: 2, Lease: at(1), Deadline: at(2), Prior: at(3),
		Created: at(0), Finished: at(4), Expires: at(5), Now: at(6),
		Outcome: plain(`{"ok":"<&>"}`),
	}
	shown := recordJSON(r)
	shown.showOutcome(r.Outcome)
	var out bytes.Buffer
	c := &cli{out: &out}
	if err := errors.Join(
		c.printJSON(recordJSON(r)), c.printJSON(shown),
		c.printJSON(historyJSON([]store.Entry{{
			At: at(0), Verb: store.Claimed, From: store.Free, To: store.InFlight, Fence: 3, Generation: 2, Attempt: 2,
			WorkflowID: "wf", RunID: "run", Who: "ann", Why: "because",
		}}))); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/shapes.json")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// Retention counts from completion, although the record carries a moment from the
// time of its claim.
func TestKeptUntil(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	for name, c := range map[string]struct {
		record store.Record
		want   time.Time
	}{
		"not finished":         {store.Record{Retention: 5 * time.Second, Expires: at(5)}, time.Time{}},
		"finished later":       {store.Record{Retention: 5 * time.Second, Expires: at(5), Finished: at(3)}, at(8)},
		"that moment is later": {store.Record{Retention: time.Second, Expires: at(5), Finished: at(3)}, at(5)},
		"for ever":             {store.Record{Finished: at(3)}, time.Time{}},
	} {
		if got := keptUntil(c.record); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestParseScope(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":                   {"", ""},
		"run":                {"run", ""},
		"tenant:acme":        {"tenant", "acme"},
		"workflow:a:b":       {"workflow", "a:b"},
		"shadow:tenant":      {"shadow:tenant", ""},
		"shadow:tenant:acme": {"shadow:tenant", "acme"},
		":acme":              {"", "acme"},
	} {
		if kind, id := parseScope(text); [2]string{kind, id} != want {
			t.Errorf("%q: got %q and %q, want %q", text, kind, id, want)
		}
	}
}

// Help that names a flag which is not there has been read by nobody.
func TestHelp(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`(?:^|[\s{("])--([a-z-]+)`)
	for _, cmd := range (&cli{}).root().Commands() {
		t.Run(cmd.Name(), func(t *testing.T) {
			t.Parallel()
			if cmd.Long == "" || cmd.Short == "" || cmd.Example == "" {
				t.Error("a text or the example is missing")
			}
			for _, m := range flag.FindAllStringSubmatch(cmd.Use+"\n"+cmd.Long+"\n"+cmd.Example, -1) {
				if cmd.Flag(m[1]) == nil && m[1] != "not-applied" { // resolve's, which others refer to
					t.Errorf("there is no flag --%s", m[1])
				}
			}
			for line := range strings.Lines(cmd.Long + "\n" + cmd.UsageString()) {
				if len([]rune(line)) > 121 {
					t.Errorf("too wide for a terminal: %q", line)
				}
			}
		})
	}
}
