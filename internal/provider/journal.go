package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// journal is the list of effects: in memory for questions, and in a file, one JSON object per line,
// to survive the process. Without a file it is in memory only.
type journal struct {
	mu      sync.Mutex
	file    *os.File
	effects []Effect
	first   map[string]int // key → index of the first effect under it
	broken  error          // set when a line may be half written; no effect is committed after that
}

// openJournal reads the journal at path, creating it if needed. A last line without its end was
// never committed, so it is cut off.
func openJournal(path string) (*journal, error) {
	j := &journal{first: make(map[string]int)}
	if path == "" {
		return j, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.load(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), f.Close())
	}
	j.file = f
	return j, nil
}

func (j *journal) load(f *os.File) error {
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, line := range bytes.Split(whole, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var e Effect
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		j.add(e)
	}
	if err := f.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekEnd)
	return err
}

// commit numbers, answers and stores e. When it returns without an error the effect is durable.
func (j *journal) commit(e Effect, answer func(sequence int64) json.RawMessage) (Effect, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return Effect{}, j.broken
	}
	e.Sequence = int64(len(j.effects)) + 1
	e.Time = time.Now().UTC()
	e.Response = answer(e.Sequence)
	if j.file != nil {
		if err := appendLine(j.file, e); err != nil {
			j.broken = fmt.Errorf("write journal: %w", err)
			return Effect{}, j.broken
		}
	}
	j.add(e)
	return e, nil
}

func appendLine(f *os.File, e Effect) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // keep Body as it was compared: a key's next request is compared with it
	if err := enc.Encode(e); err != nil {
		return err
	}
	if _, err := f.Write(line.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// add puts e into memory.
func (j *journal) add(e Effect) {
	if _, ok := j.first[e.Key]; !ok && e.Key != "" {
		j.first[e.Key] = len(j.effects)
	}
	j.effects = append(j.effects, e)
}

// underKey returns the first effect under a key.
func (j *journal) underKey(key string) (Effect, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, ok := j.first[key]
	if !ok {
		return Effect{}, false
	}
	return j.effects[i], true
}

// list returns the effects that fit f, oldest first.
func (j *journal) list(f Filter) []Effect {
	j.mu.Lock()
	defer j.mu.Unlock()
	found := []Effect{}
	for _, e := range j.effects {
		if (f.Kind == "" || f.Kind == e.Kind) && (f.Case == "" || f.Case == e.Case) {
			found = append(found, e)
		}
	}
	return found
}

// clear forgets every effect, in the file too.
func (j *journal) clear() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.effects, j.first = nil, make(map[string]int)
	if j.file == nil {
		return nil
	}
	if err := j.file.Truncate(0); err != nil {
		return fmt.Errorf("clear journal: %w", err)
	}
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("clear journal: %w", err)
	}
	return j.file.Sync()
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	j.broken = errors.New("journal closed")
	return j.file.Close()
}
