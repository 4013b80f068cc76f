// Package stores measures the stores beside what one would write by hand, and
// beside other programs that write down steps and jobs.
//
//	go test -run '^$' -bench Stores -benchtime 1x -timeout 0 ./stores -args -c 1,8,64,256 -rounds 3 -seconds 2
//
// "make bench BENCH=stores" does that; the flags are in flags_test.go. The servers
// are private and end with the benchmark, as those of all tests: see package services.
//
// An action is a claim and a completion with 120 bytes of result. All ways are
// measured in turn, round after round, and compared inside each round: on a
// machine that does other work too, nothing else means anything.
package stores
