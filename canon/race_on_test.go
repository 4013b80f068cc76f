//go:build race

package canon_test

// slow: with the race detector, long loops are cut short.
const slow = true
