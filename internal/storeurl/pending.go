package storeurl

import (
	"context"
	"errors"
)

func openSQLite(context.Context, string, Options) (*Opened, error) {
	return nil, errors.New("the SQLite store is not built in yet")
}

func openPostgres(context.Context, string, string, Options) (*Opened, error) {
	return nil, errors.New("the PostgreSQL store is not built in yet")
}
