package postgres

import (
	"fmt"
	"strings"
	"time"
)

// DefaultSchema is where the tables are unless [Options.Schema] says otherwise.
const DefaultSchema = "effectonce"

// Options configure [New] and [Migrate]. The zero value is ready to use.
type Options struct {
	// Schema is the PostgreSQL schema that holds the tables, as it is spelled in
	// the catalogue: any name, without quoting. Default [DefaultSchema]; at most
	// 63 bytes.
	Schema string

	// Timeout bounds how long a call may be at work in the database, repeats
	// after a lost answer included, once its statement has been sent. The
	// caller's context only ends the waiting. Default 10s; must be at least 100ms.
	Timeout time.Duration

	// NoLane has every claim and report sent by itself. Otherwise those of all
	// goroutines that wait share transactions: the more there are, the fewer
	// commits each costs. A single one is sent at once either way.
	NoLane bool

	// NoNotify has [Store.Watch] tell nothing: who waits for another process's action
	// polls. Set it behind a pooler in transaction mode, which does not pass
	// notifications on. Otherwise who waits has a connection that listens.
	NoNotify bool

	// Portable uses only what engines that speak PostgreSQL's protocol have in
	// common: plain statements on one row, found by its key, and short transactions
	// that write a record and its history if nobody else has written it since it was
	// read. It is for distributed engines, and slower on PostgreSQL. It has tables of
	// its own kind: a schema that was migrated with it is used with it, always. There
	// is no lane. See the package text, and docs/operations/portable.md.
	Portable bool
}

func (o *Options) setDefaults() {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if o.Portable {
		o.NoLane = true
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
}

func (o *Options) validate() error {
	switch {
	case len(o.Schema) > 63:
		return fmt.Errorf("postgres: Schema must have at most 63 bytes, got %d", len(o.Schema))
	case strings.Contains(o.Schema, "\x00"):
		return fmt.Errorf("postgres: Schema must not contain a NUL byte, got %q", o.Schema)
	case o.Timeout < 100*time.Millisecond:
		return fmt.Errorf("postgres: Timeout must be at least 100ms, got %s", o.Timeout)
	}
	return nil
}
