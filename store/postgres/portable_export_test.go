package postgres

import (
	"context"
	"maps"
	"slices"
)

// PortableStatements returns all that portable mode sends in a schema, apart from
// what Migrate does.
func PortableStatements(schema string) []string {
	opts := Options{Schema: schema, Portable: true}
	opts.setDefaults()
	p := newPlain(opts.Schema)
	return append([]string{
		p.get, p.scheduled, p.claim, p.update, p.log, p.logged, p.renew, p.lookup, p.list, p.history,
		p.prunable, p.prune, p.forget,
		beginSQL, commitSQL, rollbackSQL, tablesSQL, versionSQL(opts),
	}, slices.Sorted(maps.Values(p.due))...)
}

// Compare says what becomes of tables of one version and a program of another.
var Compare = compare

// Reading runs a read as List, Lookup, History and Check do.
func (s *Store) Reading(ctx context.Context, read func() error) error {
	_, err := reading(ctx, s, func() (none struct{}, err error) { return none, read() })
	return err
}
