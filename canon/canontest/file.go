package canontest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const header = `# Keys of actions, by package canontest. Where a line changes, records that exist are
# not found again, and what they stand for may be done twice: do not write this file
# again just because a test asks for it.
# name	operation	key in scope namespace	identity	fingerprint
`

// same stands for a fingerprint that is the identity.
const same = "="

func write(path string, entries []entry) error {
	var b strings.Builder
	b.WriteString(header)
	for _, e := range entries {
		if e.fingerprint == e.identity {
			e.fingerprint = same
		}
		b.WriteString(strings.Join([]string{e.name, e.operation, e.key, e.identity, e.fingerprint}, "\t") + "\n")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o666)
}

func read(path string) ([]entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r") // git may have put it there
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("%s:%d: %d fields instead of 5", path, i+1, len(f))
		}
		if f[4] == same {
			f[4] = f[3]
		}
		entries = append(entries, entry{f[0], f[1], f[2], f[3], f[4]})
	}
	return entries, nil
}
