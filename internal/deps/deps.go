//go:build deps

// Package deps is a scaffold: it goes away once every package below is imported for real.
package deps

import (
	_ "github.com/anishathalye/porcupine"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/pressly/goose/v3"
	_ "github.com/pressly/goose/v3/lock"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/require"
	_ "github.com/stretchr/testify/suite"
	_ "go.temporal.io/sdk/contrib/envconfig"
	_ "go.temporal.io/sdk/testsuite"
	_ "go.temporal.io/sdk/worker"
	_ "go.uber.org/goleak"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
	_ "github.com/google/uuid"
)
