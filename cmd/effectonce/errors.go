package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/internal/storeurl"
)

var (
	// errMaybe is returned when nobody told us whether the change was made.
	errMaybe = errors.New("maybe changed")

	// errRefused is returned when the record does not allow the change.
	errRefused = errors.New("refused")

	// errChanged is returned when the record is no longer as it was shown.
	errChanged = errors.New("changed meanwhile")
)

// usageError is a fault of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// oneKey is for commands about one action.
func oneKey(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("give the key of one action (effectonce list shows keys), got %d arguments", len(args))
	}
	return nil
}

// openError sets apart what another URL would cure from what it would not.
func openError(err error) error {
	switch {
	case errors.Is(err, storeurl.ErrNoURL):
		return usagef("no store: set %s, or give --store with one of sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE, redis://USER:PASSWORD@HOST/DATABASE", storeVariable)
	case errors.Is(err, storeurl.ErrScheme), errors.Is(err, storeurl.ErrSyntax):
		return usageError{err}
	}
	return err
}
