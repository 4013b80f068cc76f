package sqlite

import (
	"context"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/effectonce/effectonce/store"
)

// Errors of this package, beside those of package store.
var (
	// ErrPath is returned by Open when the path cannot be opened or created: its
	// folder does not exist, it is a folder itself, or access is denied.
	ErrPath = errors.New("cannot open or create the file: does its folder exist, and may this process use it?")

	// ErrReadOnly is returned when the file or its folder cannot be written.
	ErrReadOnly = errors.New("file cannot be written")

	// ErrDamaged is returned when the file is not an SQLite file or is damaged.
	// It is also a [store.ErrCorrupt].
	ErrDamaged = fmt.Errorf("not an SQLite file, or damaged: restore it, do not delete it: %w", store.ErrCorrupt)

	// ErrForeign is returned by Open when the file is the database of another program.
	ErrForeign = errors.New("database belongs to another program")

	// ErrNewer is returned by Open when a newer version of this package made the file.
	ErrNewer = errors.New("file was made by a newer version of effectonce: update this program")

	// ErrBusy is returned when somebody else has held the write lock for all of
	// Options.BusyTimeout. Nothing was changed.
	ErrBusy = errors.New("file is locked by another process")

	// ErrClosed is returned after Close. Nothing was changed.
	ErrClosed = errors.New("store is closed")
)

// refused reports whether err is an answer of the contract, given before anything
// was written: the transaction may go on.
func refused(err error) bool {
	for _, answer := range []error{
		store.ErrNotFound, store.ErrLeaseLost, store.ErrConflict, store.ErrUnsettled, store.ErrInvalid, store.ErrCorrupt,
	} {
		if errors.Is(err, answer) {
			return code(err) == 0
		}
	}
	return false
}

// code returns the primary result code of SQLite, or 0 if err is not from SQLite.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// typed adds the error of this package that says what to do about err.
func typed(err error) error {
	var kind error
	switch code(err) {
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		kind = ErrPath
	case codes.SQLITE_READONLY:
		kind = ErrReadOnly
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		kind = ErrDamaged
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		kind = ErrBusy
	default:
		return err
	}
	return fmt.Errorf("%w (%w)", kind, err)
}

// explain says what was being done when err came up. Answers of the contract and
// the caller's own reasons to stop are passed on as they are.
func (s *Store) explain(doing string, err error) error {
	if err == nil || refused(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	select {
	case <-s.writer.closing:
		err = ErrClosed
	default:
	}
	return fmt.Errorf("sqlite: %s: %w", doing, typed(err))
}
