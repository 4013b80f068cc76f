package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/effectonce/effectonce/store/sqlite"
)

func openSQLite(ctx context.Context, rest string, opts Options) (*Opened, error) {
	path, err := sqlitePath(rest)
	if err != nil {
		return nil, err
	}
	if err := checkFile(path, opts.Existing); err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{Existing: opts.Existing})
	if err != nil {
		return nil, err
	}
	return &Opened{Store: s, Name: "sqlite:" + path, close: s.Close}, nil
}

func sqlitePath(rest string) (string, error) {
	path, isURL := strings.CutPrefix(rest, "//")
	switch {
	case path == "":
		return "", fmt.Errorf("%w: sqlite: needs a file, such as sqlite:records.db", ErrSyntax)
	case isURL && !strings.HasPrefix(path, "/"):
		return "", fmt.Errorf("%w: write sqlite:%s for a relative path, sqlite:///%s for an absolute one", ErrSyntax, path, path)
	case strings.ContainsAny(path, "?\x00"):
		return "", fmt.Errorf("%w: sqlite: takes a file and no parameters", ErrSyntax)
	case strings.HasPrefix(path, ":memory:"):
		return "", fmt.Errorf("%w: write memory: for a store in memory", ErrSyntax)
	}
	return path, nil
}

// checkFile looks before SQLite does, which answers "unable to open database file"
// to everything and makes a file that was only misspelt.
func checkFile(path string, existing bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%w: %s is a folder; name a file in it", ErrSyntax, path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open sqlite:%s: %w", path, err)
	}
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); err != nil {
		return fmt.Errorf("%w: open sqlite:%s: there is no folder %s; create it, or name another", ErrMissing, path, folder)
	}
	if existing {
		return fmt.Errorf("%w: open sqlite:%s: there is no such file; name the file that the worker uses", ErrMissing, path)
	}
	return nil
}
