package canon

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
)

// FieldDigest stands for one part of a fingerprint, so that a difference can be
// named without keeping the value. It is cut short: for diagnosis, never for
// identity.
type FieldDigest struct {
	// Path is an RFC 6901 pointer into the argument list, such as "/0/amount".
	Path string
	// Sum is the start of the SHA-256 of the part's canonical form.
	Sum [8]byte
}

// maxDigests is how many members of an argument get a digest each. An argument
// with more has one for the whole, so that a record stays small.
const maxDigests = 256

// digests takes a fingerprint apart.
func digests(fingerprint []form) []FieldDigest {
	all := make([]FieldDigest, 0, 4)
	for i, f := range fingerprint {
		path := "/" + strconv.Itoa(i)
		if f.text == nil || string(f.text) == "null" {
			continue // nothing, whether or not it stands before something
		}
		before := len(all)
		if f.text[0] == '{' {
			for name, value := range members(f.text) {
				all = append(all, digest(below(path, name), value))
				if len(all)-before > maxDigests {
					all = all[:before]
					break
				}
			}
		}
		if len(all) == before {
			all = append(all, digest(path, f.text))
		}
	}
	slices.SortFunc(all, func(a, b FieldDigest) int { return compareUTF16(a.Path, b.Path) })
	return all
}

// below returns the path of a member, whose name is quoted.
func below(path string, name []byte) string {
	if !bytes.ContainsAny(name, `\~/`) {
		return path + "/" + string(name[1:len(name)-1])
	}
	return path + "/" + escapePointer(unquote(name))
}

func digest(path string, part []byte) FieldDigest {
	sum := sha256.Sum256(part)
	return FieldDigest{path, [8]byte(sum[:8])}
}

// Diff names the paths whose digests differ or that only one side has. Both sides
// must be sorted by path, as [Fields.Split] returns them.
func Diff(a, b []FieldDigest) []string {
	var paths []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && compareUTF16(a[0].Path, b[0].Path) < 0:
			paths = append(paths, a[0].Path)
			a = a[1:]
		case len(a) == 0 || a[0].Path != b[0].Path:
			paths = append(paths, b[0].Path)
			b = b[1:]
		default:
			if a[0].Sum != b[0].Sum {
				paths = append(paths, a[0].Path)
			}
			a, b = a[1:], b[1:]
		}
	}
	return paths
}
