package store

import "slices"

// Matches reports whether r, which carries the store's clock, may be deleted.
func (p Prune) Matches(r Record) bool {
	return r.Root != [16]byte{} && slices.Contains(p.Kinds, r.ScopeKind) &&
		r.Done() && !r.Now.Before(r.Finished.Add(p.Age))
}
