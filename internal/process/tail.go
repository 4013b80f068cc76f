package process

import (
	"bytes"
	"io"
	"sync"
)

// tailBytes is how much of a program's output is kept for its errors.
const tailBytes = 8 << 10

// tail keeps the end of what is written to it and passes everything on.
type tail struct {
	next io.Writer // may be nil

	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - tailBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
		t.cut = true
	}
	if t.next != nil {
		// A reader that went away must not stop the program.
		_, _ = t.next.Write(p)
	}
	return len(p), nil
}

// String returns the kept lines; a first line that was cut is left out.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	if t.cut {
		if i := bytes.IndexByte(kept, '\n'); i >= 0 {
			kept = kept[i+1:]
		}
	}
	return string(kept)
}
