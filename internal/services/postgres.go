package services

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/internal/process"
)

// Postgres returns the address of a fresh, empty database on a real PostgreSQL
// server, as a URL. The database is dropped when the test ends, with whatever
// is still connected to it.
func Postgres(tb testing.TB) string {
	tb.Helper()
	return postgres.get(tb).database(tb)
}

const postgresTimeout = 60 * time.Second

type postgresServer struct {
	admin *url.URL
	// For a private server only:
	child  *process.Child
	folder *folder
}

var databases atomic.Int64

// database creates a database: not a schema, because advisory locks, which
// migrations use, are one set per database.
func (s *postgresServer) database(tb testing.TB) string {
	tb.Helper()
	// The test binary's process id and random letters keep test binaries that
	// share one outside server apart.
	name := fmt.Sprintf("effectonce_test_%d_%d_%s", os.Getpid(), databases.Add(1), strings.ToLower(rand.Text()[:6]))
	if err := s.do(tb.Context(), "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		tb.Fatalf("create a database for this test: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.do(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop this test's database: %v", err)
		}
	})
	address := *s.admin
	address.Path = "/" + name
	return address.String()
}

func (s *postgresServer) do(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
	defer cancel()
	connection, err := pgx.Connect(ctx, s.admin.String())
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, statement)
	return err
}

func (s *postgresServer) stop() {
	if s.child == nil {
		return
	}
	_ = s.child.Stop()
	s.folder.remove()
}

func startPostgres() (*postgresServer, error) {
	if address := os.Getenv("EFFECTONCE_TEST_POSTGRES"); address != "" {
		return outsidePostgres(address)
	}
	programs, err := postgresPrograms()
	if err != nil {
		return nil, errMissing{err}
	}
	user, err := postgresUser()
	if err != nil {
		return nil, errMissing{err}
	}
	server, err := privatePostgres(programs, user)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL from %s: %w", programs, err)
	}
	return server, nil
}

func outsidePostgres(address string) (*postgresServer, error) {
	admin, err := url.Parse(address)
	if err != nil {
		// Not the error itself: it repeats the address with its password.
		return nil, errors.New("EFFECTONCE_TEST_POSTGRES is no URL of the form postgres://user:password@host:port/database")
	}
	s := &postgresServer{admin: admin}
	if err := s.do(context.Background(), "SELECT 1"); err != nil {
		return nil, fmt.Errorf("EFFECTONCE_TEST_POSTGRES: %w", err)
	}
	return s, nil
}

// postgresPrograms finds the folder with initdb and postgres: on PATH, else the
// newest version where Debian keeps them.
func postgresPrograms() (string, error) {
	var folders []string
	if path, err := exec.LookPath("postgres"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(a, b string) int { return postgresVersion(b) - postgresVersion(a) })
	for _, dir := range append(folders, debian...) {
		if executable(dir, "initdb") && executable(dir, "postgres") {
			return dir, nil
		}
	}
	return "", errors.New("initdb and postgres are neither on PATH nor in /usr/lib/postgresql (make deps installs PostgreSQL)")
}

func executable(dir, name string) bool {
	_, err := exec.LookPath(filepath.Join(dir, name))
	return err == nil
}

func postgresVersion(bin string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return version
}

func privatePostgres(programs string, user *process.Credential) (_ *postgresServer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), postgresTimeout)
	defer cancel()

	dir, err := newFolder("pg", user)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			dir.remove()
		}
	}()
	data := filepath.Join(dir.path, "data")
	password := rand.Text()
	passwordFile := filepath.Join(dir.path, "password")
	if err := os.WriteFile(passwordFile, []byte(password+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := own(passwordFile, user); err != nil {
		return nil, err
	}
	initdb, err := process.Start(ctx, process.Command{
		Path: filepath.Join(programs, "initdb"),
		Args: []string{
			"--no-sync", "--pgdata", data, "--username", "effectonce", "--pwfile", passwordFile,
			"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C",
		},
		Dir:   dir.path,
		RunAs: user,
	})
	if err != nil {
		return nil, err
	}
	if err := initdb.Wait(ctx); err != nil {
		return nil, err
	}
	// Something else may take the port between our looking and its listening.
	for range 3 {
		var server *postgresServer
		server, err = servePostgres(ctx, programs, data, password, dir, user)
		if err == nil {
			return server, nil
		}
		if !strings.Contains(err.Error(), "already in use") {
			break
		}
	}
	return nil, err
}

func servePostgres(ctx context.Context, programs, data, password string, dir *folder, user *process.Credential) (*postgresServer, error) {
	port, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(context.Background(), process.Command{ // ctx bounds the start, not the server
		Path: filepath.Join(programs, "postgres"),
		Args: []string{
			"-D", data, "-p", strconv.Itoa(port),
			"-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=" + dir.path,
			// Tests run in parallel, each with a pool of its own.
			"-c", "max_connections=300",
			"-c", "log_min_messages=warning",
		},
		Dir:   dir.path,
		RunAs: user,
		// An immediate shutdown: it ends its own processes and frees its shared
		// memory, and the data is thrown away anyhow. On SIGKILL it could not.
		StopSignal:  syscall.SIGQUIT,
		DeathSignal: syscall.SIGQUIT,
	})
	if err != nil {
		return nil, err
	}
	s := &postgresServer{
		admin: &url.URL{
			Scheme:   "postgres",
			User:     url.UserPassword("effectonce", password),
			Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
			Path:     "/postgres",
			RawQuery: "sslmode=disable",
		},
		child:  child,
		folder: dir,
	}
	answers := func(ctx context.Context) error { return s.do(ctx, "SELECT 1") }
	if err := child.Until(ctx, answers); err != nil {
		_ = child.Stop()
		return nil, err
	}
	return s, nil
}
