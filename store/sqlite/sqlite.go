package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	codes "modernc.org/sqlite/lib"

	"github.com/effectonce/effectonce/store"
)

var (
	_ store.Store     = (*Store)(nil)
	_ store.Lister    = (*Store)(nil)
	_ store.Historian = (*Store)(nil)
	_ store.Janitor   = (*Store)(nil)

	_ store.Transactor = (*Store)(nil)
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// BusyTimeout is how long a call waits for another process that holds the
	// write lock, before it fails with [ErrBusy]. Default 10s.
	BusyTimeout time.Duration

	// NoLane has every change committed by itself. Otherwise those of all goroutines
	// that wait share commits: the more there are, the fewer commits each costs. A
	// single one is committed at once either way.
	NoLane bool

	// Existing refuses to create the file: a path with a typing error is then
	// [ErrPath], not an empty store that has forgotten every action.
	Existing bool
}

// Store keeps records in an SQLite file; see [Open].
type Store struct {
	db          *sql.DB   // has one connection,
	conn        *sql.Conn // the writer's,
	tx          tx        // with its statements
	reads       *sql.DB   // everybody else's, read-only
	byRef       *sql.Stmt
	byScheduled *sql.Stmt
	callers     *sql.DB // see DB
	writer      *writer
	close       func() error
}

// Open opens the store in the file at path, creating the file but not its folder,
// and brings its schema up to date. ctx bounds opening only. The caller closes the
// store.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.BusyTimeout == 0 {
		opts.BusyTimeout = 10 * time.Second
	}
	if opts.BusyTimeout < 0 {
		return nil, fmt.Errorf("open sqlite store: BusyTimeout must not be negative, got %s: %w", opts.BusyTimeout, store.ErrInvalid)
	}
	s, err := open(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("open sqlite store %q: %w", path, typed(err))
	}
	return s, nil
}

func open(ctx context.Context, path string, opts Options) (_ *Store, err error) {
	if path == "" || path == ":memory:" {
		return nil, fmt.Errorf("%w (a store in memory is store/memory)", ErrPath)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	mode := "rwc"
	if opts.Existing {
		mode = "rw"
	}
	s := &Store{}
	defer func() {
		if err != nil {
			s.shut() //nolint:errcheck // the first error counts
		}
	}()
	// FULL: a commit is on disk before it is answered.
	if s.db, err = sql.Open("sqlite", dsn(abs, "mode="+mode, "_pragma=busy_timeout(0)", "_pragma=synchronous(FULL)")); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	if err = s.ready(ctx, opts.BusyTimeout); err != nil {
		return nil, err
	}
	if s.tx, err = prepare(ctx, s.conn); err != nil {
		return nil, err
	}
	if s.reads, err = sql.Open("sqlite", dsn(abs, "mode=rw", "_pragma=busy_timeout(1000)", "_pragma=query_only(1)")); err != nil {
		return nil, err
	}
	s.reads.SetMaxOpenConns(4)
	s.reads.SetMaxIdleConns(4)
	if s.byRef, err = s.reads.PrepareContext(ctx, selectByRef); err != nil {
		return nil, err
	}
	if s.byScheduled, err = s.reads.PrepareContext(ctx, selectByScheduled); err != nil {
		return nil, err
	}
	if s.callers, err = openCallers(abs, opts); err != nil {
		return nil, err
	}
	s.writer = startWriter(s.tx, opts)
	s.close = sync.OnceValue(s.shut)
	return s, nil
}

// ready opens the connection that writes and prepares the file. Other processes may
// be doing the same at this moment, so whatever is busy is tried again.
func (s *Store) ready(ctx context.Context, patience time.Duration) (err error) {
	for deadline := time.Now().Add(patience); ; {
		err = nil // of the try before
		if s.conn == nil {
			s.conn, err = s.db.Conn(ctx)
		}
		if err == nil {
			err = prepareFile(ctx, s.conn)
		}
		if code(err) != codes.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func prepareFile(ctx context.Context, c *sql.Conn) error {
	var mode string
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: journal mode is %s, not wal", ErrReadOnly, mode)
	}
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := migrate(ctx, c)
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	_, ended := c.ExecContext(context.WithoutCancel(ctx), end)
	return errors.Join(err, ended)
}

// Close waits for changes that have begun and closes the file. Calls that have not
// begun, and later ones, get [ErrClosed]. Close may be called more than once.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut() (err error) {
	if s.writer != nil {
		s.writer.stop()
	}
	if s.callers != nil {
		err = s.callers.Close()
	}
	if s.reads != nil {
		err = errors.Join(err, s.reads.Close())
	}
	if s.conn != nil { // the last to close moves what is in the log into the file
		err = errors.Join(err, s.tx.close())
		err = errors.Join(err, s.conn.Close())
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// dsn escapes the path: it may hold characters that mean something in a URI.
func dsn(path string, params ...string) string {
	u := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	for i, p := range params {
		sep := "&"
		if i == 0 {
			sep = "?"
		}
		u += sep + p
	}
	return u
}
