package storeurl

import "errors"

// Errors that [Open] returns. The first three are faults of the URL: opening it
// again cannot help.
var (
	// ErrNoURL is returned when the URL is empty.
	ErrNoURL = errors.New("no store URL: give one of memory:, sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE, redis://USER:PASSWORD@HOST/DATABASE")

	// ErrScheme is returned when the URL starts with a scheme that is not known.
	ErrScheme = errors.New("unknown kind of store: the URL must start with memory:, sqlite:, postgres:// or redis://")

	// ErrSyntax is returned when what follows the scheme makes no sense.
	ErrSyntax = errors.New("malformed store URL")

	// ErrMissing is returned when a folder is missing, or with [Options.Existing]
	// the file, the tables or the keys.
	ErrMissing = errors.New("store is missing")

	// ErrUnreachable is returned when the server does not answer in time, cannot
	// be found, or does not let us in.
	ErrUnreachable = errors.New("store is unreachable")
)
