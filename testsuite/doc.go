// Package testsuite proves effectonce end to end.
package testsuite
