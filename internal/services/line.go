package services

import (
	"bytes"
	"strings"
	"sync"
)

// firstLine keeps the first line that is written to it.
type firstLine struct {
	mu   sync.Mutex
	text strings.Builder
	full bool
}

func (l *firstLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.full {
		var line []byte
		line, _, l.full = bytes.Cut(p, []byte("\n"))
		l.text.Write(line)
	}
	return len(p), nil
}

// String is empty until the line is complete.
func (l *firstLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.full {
		return ""
	}
	return l.text.String()
}
