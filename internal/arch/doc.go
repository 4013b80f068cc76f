// Package arch keeps, as a test, the rule that arrows point inward only: which
// package of this repository may import which, and which driver lives where.
package arch
