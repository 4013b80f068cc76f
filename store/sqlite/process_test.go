package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/sqlite"
)

// Other processes are this test binary again, told by the environment what to do.
const (
	childEnv = "SQLITE_TEST_CHILD"
	fileEnv  = "SQLITE_TEST_FILE"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "endless":
		endless(os.Getenv(fileEnv))
	case "race":
		race(os.Getenv(fileEnv))
	}
}

func child(t *testing.T, what, file string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, fileEnv+"="+file)
	cmd.Stderr = os.Stderr
	return cmd
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return v
}

// request is for the n-th of some well-known actions.
func request(n int) store.Request {
	q := store.Request{
		Token: store.NewToken(), Namespace: "default", Operation: "Refund", Attempt: 1, WorkflowID: "order",
		Lease: time.Hour, Remaining: time.Hour,
	}
	q.Key[0], q.Key[1], q.Key[31], q.Fingerprint[0] = byte(n), byte(n>>8), 1, 1
	return q
}

func done(data string) store.Change {
	return store.Change{Verb: store.Complete, Outcome: &store.Outcome{Format: "text", Data: []byte(data)}}
}

// endless claims and completes as fast as it can, and says so on standard output,
// until it is killed.
func endless(path string) {
	s := must(sqlite.Open(context.Background(), path, sqlite.Options{}))
	var out sync.Mutex
	say := func(what string, r store.Record) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(what, hex.EncodeToString(r.Key[:]), r.Token)
	}
	var forEver sync.WaitGroup
	for range 16 {
		forEver.Go(func() {
			for {
				q := request(0)
				token := store.NewToken()
				copy(q.Key[:], token[:])
				r := must(s.Claim(context.Background(), q))
				say("claimed", r)
				r = must(s.Report(context.Background(), r.Claim(), done(r.Token.String())))
				say("completed", r)
			}
		})
	}
	forEver.Wait()
}

func TestKilledProcessLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	for range 4 {
		cmd := child(t, "endless", path)
		stdout := must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var answered []string
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if answered = append(answered, lines.Text()); len(answered) == 300 {
				cmd.Process.Kill() //nolint:errcheck // Wait says what became of it
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("the child was to be killed, but: %v", err)
		}
		if len(answered) < 300 {
			t.Fatalf("the child answered %d calls only", len(answered))
		}
		check(t, path, answered)
	}
}

// check insists on every answer still being true, and on a file without damage.
func check(t *testing.T, path string, answered []string) {
	t.Helper()
	s := open(t, path)
	for _, line := range answered {
		words := strings.Fields(line)
		if len(words) < 3 || len(words[2]) != 32 {
			continue // cut off by the kill
		}
		var ref store.Ref
		if n, err := hex.Decode(ref.Key[:], []byte(words[1])); n != 32 || err != nil {
			t.Fatalf("the child said %q", line)
		}
		r, err := s.Get(t.Context(), ref)
		switch {
		case err != nil:
			t.Fatalf("after the answer %q: %v", line, err)
		case r.Token.String() != words[2]:
			t.Fatalf("after the answer %q the token is %s", line, r.Token)
		case words[0] == "completed" && (r.State != store.Completed || string(r.Outcome.Data) != words[2]):
			t.Fatalf("after the answer %q the record is %s", line, r.State)
		}
		h, err := s.History(t.Context(), ref)
		if want := map[store.State]int{store.InFlight: 1, store.Completed: 2}[r.State]; err != nil || len(h) != want {
			t.Fatalf("history of a record that is %s has %d entries, %v", r.State, len(h), err)
		}
	}
	db := must(sql.Open("sqlite", path))
	defer db.Close() //nolint:errcheck // a test
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %s, %v", verdict, err)
	}
}

const raceKeys = 300

// race claims well-known keys, once it is told to start, and prints which it won.
func race(path string) {
	must(io.ReadAll(os.Stdin)) // the start
	s := must(sqlite.Open(context.Background(), path, sqlite.Options{BusyTimeout: time.Minute}))
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for n := part; n < raceKeys; n += 4 {
				q := request(n)
				if r := must(s.Claim(context.Background(), q)); r.Token == q.Token {
					must(s.Report(context.Background(), r.Claim(), done("x")))
					fmt.Println(n)
				}
			}
		})
	}
	all.Wait()
	must(0, s.Close())
}

func TestFourProcessesThatStartAtOnceShareOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "records.db")
	var out [4]strings.Builder
	var children []*exec.Cmd
	var starts []io.Closer
	for i := range out {
		cmd := child(t, "race", path)
		cmd.Stdout = &out[i]
		starts = append(starts, must(cmd.StdinPipe()))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, s := range starts {
		s.Close() //nolint:errcheck // Wait says what became of the child
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	winners, busy := map[string]int{}, 0
	for i := range out {
		won := strings.Fields(out[i].String())
		for _, n := range won {
			winners[n]++
		}
		if len(won) > 0 {
			busy++
		}
	}
	for n := range raceKeys {
		if got := winners[fmt.Sprint(n)]; got != 1 {
			t.Errorf("key %d has %d winners, want 1", n, got)
		}
	}
	t.Logf("%d of 4 processes won keys", busy)
}
