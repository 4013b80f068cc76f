package postgres

import (
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
