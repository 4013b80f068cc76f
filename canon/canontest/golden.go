package canontest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/effectonce/effectonce/canon"
)

// UpdateVariable is the environment variable that makes [Golden] write its file
// instead of comparing with it, if it is "1".
const UpdateVariable = "EFFECTONCE_UPDATE_GOLDEN"

// Example is one call whose key must stay what it is.
type Example struct {
	// Name says which example it is. Required, and unique in its file.
	Name string
	// Operation is the policy's Operation, or else the activity type. Required.
	Operation string
	// Args are the activity's arguments, without its context.
	Args []any
	// Fields are the policy's Identity, Check and Ignore.
	Fields canon.Fields
}

// TB is what [Golden] needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Name() string
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Golden compares the keys and fingerprints of examples with those in the file at
// path, and reports each one that differs with the parts that do. The key in the
// file is that of scope Namespace in the namespace "default"; in any other scope an
// action's key changes when this one does.
//
// With the environment variable [UpdateVariable] set to "1" it writes the file
// instead, and its folder if there is none.
func Golden(t TB, path string, examples ...Example) {
	t.Helper()
	now, err := entriesOf(examples)
	if err != nil {
		t.Fatalf("canontest: %v", err)
		return
	}
	if os.Getenv(UpdateVariable) == "1" {
		if err := write(path, now); err != nil {
			t.Fatalf("canontest: %v", err)
		}
		return
	}
	before, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("canontest: there is no %s yet. Write it, look at it and commit it:\n\t%s", path, command(t))
		return
	}
	if err != nil {
		t.Fatalf("canontest: %v", err)
		return
	}
	for _, problem := range compare(before, now) {
		t.Errorf("%s\n%s is written again by:\n\t%s", problem, path, command(t))
	}
}

func command(t TB) string {
	test, _, _ := strings.Cut(t.Name(), "/")
	return UpdateVariable + "=1 go test -run '^" + test + "$' .   # in the test's folder"
}

// entry is what is known of one example. Its texts have neither tabs nor line ends.
type entry struct {
	name, operation, key  string
	identity, fingerprint string // canonical
}

func entriesOf(examples []Example) ([]entry, error) {
	var entries []entry
	seen := map[string]bool{}
	for _, x := range examples {
		switch {
		case x.Name == "" || x.Operation == "":
			return nil, errors.New("an example needs a name and an operation")
		case strings.ContainsAny(x.Name+x.Operation, "\t\r\n") || strings.HasPrefix(x.Name, "#"):
			return nil, errors.New("example " + x.Name + ": neither name nor operation may have a tab or line end, or begin with #")
		case seen[x.Name]:
			return nil, errors.New("there are two examples named " + x.Name)
		}
		seen[x.Name] = true
		s, err := x.Fields.Split(x.Args, canon.Verify())
		if err != nil {
			return nil, errors.Join(errors.New("example "+x.Name+" has no key"), err)
		}
		key, err := keyOf(x.Operation, s.Identity)
		if err != nil {
			return nil, errors.Join(errors.New("example "+x.Name+" has no key"), err)
		}
		entries = append(entries, entry{x.Name, x.Operation, key, string(s.Identity), string(s.Fingerprint)})
	}
	return entries, nil
}

// keyOf does what package key does, which imports canon and is not imported here.
func keyOf(operation string, identity []byte) (string, error) {
	preimage, err := canon.Value(nil, []any{"effectonce/1", "default", "namespace", "", operation, nil, json.RawMessage(identity)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(preimage)
	return "eo1_" + hex.EncodeToString(sum[:]), nil
}
