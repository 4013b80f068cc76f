package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/effectonce/effectonce/internal/process"
)

// PgBouncer starts a pooler before the server of database, which is an address that
// [Postgres] returned, and returns the address of that database through it. The pooler
// is in transaction mode and has at most four connections to the server; settings are
// lines of its configuration that say otherwise. It ends with the test.
func PgBouncer(tb testing.TB, database string, settings ...string) string {
	tb.Helper()
	path, err := pgbouncerProgram()
	if err != nil {
		giveUp(tb, err)
	}
	user, err := postgresUser() // it refuses to run as root, as PostgreSQL does
	if err != nil {
		giveUp(tb, errMissing{err})
	}
	dir, err := newFolder("bouncer", user)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(dir.remove)
	// Something else may take the port between our looking and its listening.
	for range 3 {
		var address string
		if address, err = servePgBouncer(tb, path, database, dir, user, settings); err == nil {
			return address
		}
		if !strings.Contains(err.Error(), "in use") {
			break
		}
	}
	tb.Fatalf("start %s: %v", path, err)
	return ""
}

const pgbouncerTimeout = 30 * time.Second

func servePgBouncer(tb testing.TB, path, database string, dir *folder, user *process.Credential, settings []string) (string, error) {
	server, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	port, err := process.FreePort()
	if err != nil {
		return "", err
	}
	password, _ := server.User.Password()
	users := filepath.Join(dir.path, "users.txt")
	config := filepath.Join(dir.path, "pgbouncer.ini")
	lines := append([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%s", server.Hostname(), server.Port()),
		"[pgbouncer]",
		"listen_addr = 127.0.0.1",
		"listen_port = " + strconv.Itoa(port),
		"unix_socket_dir =",
		"auth_type = scram-sha-256",
		"auth_file = " + users,
		"pool_mode = transaction",
		"default_pool_size = 4",
		"max_client_conn = 500",
	}, settings...)
	for file, text := range map[string]string{
		users:  fmt.Sprintf("%q %q\n", server.User.Username(), password),
		config: strings.Join(lines, "\n") + "\n",
	} {
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), own(file, user)); err != nil {
			return "", err
		}
	}
	child, err := process.Start(context.Background(), process.Command{
		Path: path, Args: []string{config}, Dir: dir.path, RunAs: user,
		// Newer ones wait for their clients on SIGTERM; all end at once on this.
		StopSignal: syscall.SIGQUIT,
	})
	if err != nil {
		return "", err
	}
	server.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	ctx, cancel := context.WithTimeout(context.Background(), pgbouncerTimeout)
	defer cancel()
	err = child.Until(ctx, func(ctx context.Context) error {
		c, err := pgx.Connect(ctx, server.String())
		if err != nil {
			return err
		}
		return c.Close(ctx)
	})
	if err != nil {
		_ = child.Stop()
		return "", err
	}
	tb.Cleanup(func() { _ = child.Stop() })
	return server.String(), nil
}

func pgbouncerProgram() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	if path := "/usr/sbin/pgbouncer"; executable("/usr/sbin", "pgbouncer") {
		return path, nil
	}
	return "", errMissing{errors.New("pgbouncer is neither on PATH nor in /usr/sbin (make deps installs it)")}
}
