// Package peers compares package canon with other canonicalisers: its tests and
// fuzz targets check that the same texts are accepted and the same bytes written,
// its benchmarks measure all of them in one run.
package peers
