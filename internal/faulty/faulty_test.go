package faulty_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/effectonce/effectonce/internal/faulty"
	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/memory"
	"github.com/effectonce/effectonce/store/sqlite"
	"github.com/effectonce/effectonce/store/storetest"
)

var errLost = errors.New("connection reset")

func request() store.Request {
	q := store.Request{Token: store.NewToken(), Operation: "Refund", Lease: time.Minute, Remaining: time.Minute}
	q.Key[0], q.Fingerprint[0] = 1, 1
	return q
}

func TestWithoutFaultsItIsTheStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		good := memory.New(memory.Options{})
		return struct {
			*faulty.Store
			store.Lister
			store.Historian
			store.Janitor
		}{faulty.Wrap(good), good, good, good}
	})
}

func TestBeforeIsNotApplied(t *testing.T) {
	good := memory.New(memory.Options{})
	s := faulty.Wrap(good, faulty.Before(faulty.Claim, faulty.Fail(errLost)).Once())
	q := request()
	if _, err := s.Claim(t.Context(), q); !errors.Is(err, errLost) {
		t.Fatalf("got error %v, want %v", err, errLost)
	}
	if _, err := good.Get(t.Context(), q.Ref); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("got error %v, want %v", err, store.ErrNotFound)
	}
	if r, err := s.Claim(t.Context(), q); err != nil || r.Token != q.Token {
		t.Fatalf("the second claim: got %v, %v", r.Token, err)
	}
}

func TestAfterIsAppliedButTheAnswerIsLost(t *testing.T) {
	good := memory.New(memory.Options{})
	s := faulty.Wrap(good, faulty.After(faulty.Report, faulty.Fail(errLost)).
		If(func(c faulty.Call) bool { return c.Verb == store.Release }))
	r, err := s.Claim(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Release}); !errors.Is(err, errLost) {
		t.Fatalf("got error %v, want %v", err, errLost)
	}
	if r, err = good.Get(t.Context(), r.Ref); err != nil || r.State != store.Free {
		t.Fatalf("got %s, %v, want it free", r.State, err)
	}
}

func TestDelayAndBlockEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, action := range map[string]faulty.Action{"Delay": faulty.Delay(time.Hour), "Block": faulty.Block(make(chan struct{}))} {
			s := faulty.Wrap(memory.New(memory.Options{}), faulty.Before(faulty.Get, action))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := s.Get(ctx, request().Ref); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got error %v, want %v", name, err, context.DeadlineExceeded)
			}
			cancel()
		}
		released := make(chan struct{})
		s := faulty.Wrap(memory.New(memory.Options{}), faulty.Before(faulty.Get, faulty.Block(released)))
		go func() { time.Sleep(time.Minute); close(released) }()
		start := time.Now()
		if _, err := s.Get(t.Context(), request().Ref); !errors.Is(err, store.ErrNotFound) || time.Since(start) != time.Minute {
			t.Errorf("Block: got error %v after %s, want %v after a minute", err, time.Since(start), store.ErrNotFound)
		}
	})
}

// The child of this test dies right after its claim: the claim must be there, and
// the report must not.
func TestKillEndsTheProcessAtThatPoint(t *testing.T) {
	const env = "FAULTY_KILL_FILE"
	if path := os.Getenv(env); path != "" {
		good, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := faulty.Wrap(good, faulty.After(faulty.Claim, faulty.Kill())).Claim(t.Context(), request())
		t.Fatalf("still alive: %v, %v", r.State, err)
	}
	path := filepath.Join(t.TempDir(), "records.db")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillEndsTheProcessAtThatPoint$")
	child.Env = append(os.Environ(), env+"="+path)
	if out, err := child.CombinedOutput(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test
	if r, err := s.Get(t.Context(), request().Ref); err != nil || r.State != store.InFlight {
		t.Fatalf("got %q, %v, want a claim in flight", r.State, err)
	}
}
