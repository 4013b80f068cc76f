package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const printed = `goos: linux
cpu: AMD EPYC
BenchmarkText/size=4KB/by=canon-2         	   20000	      8000 ns/op	 500.00 MB/s	       0 B/op	       0 allocs/op
BenchmarkText/size=4KB/by=jsontext-2      	    5000	     24000 ns/op	 166.00 MB/s	    4096 B/op	       1 allocs/op
BenchmarkText/size=4KB/by=canon+sha256-2  	    5000	     10000 ns/op
BenchmarkValue/value=4KB_struct/by=canon+sha256 	    5000	     10000 ns/op
BenchmarkValue/value=4KB_struct/by=json.Marshal 	    5000	     40000 ns/op
PASS
`

func TestResults(t *testing.T) {
	t.Parallel()
	r := results{}
	r.add("", printed)
	r.add("", strings.ReplaceAll(printed, "24000 ns", "32000 ns"))
	r.add("jsonv2 ", "BenchmarkText/size=4KB/by=json.Valid-2 \t 1 \t 4000 ns/op\nBenchmarkText/size=4KB/by=sha256-2 \t 1 \t 2000 ns/op\n")
	assert.Equal(t, []float64{24000, 32000}, r.of("Text/size=4KB/by=jsontext", "ns/op"))
	assert.Equal(t, "3.50x", r.times("Text/size=4KB/by=jsontext", "Text/size=4KB/by=canon"))
	assert.Equal(t, "500", r.median("Text/size=4KB/by=canon", "MB/s"))
	assert.Equal(t, "–x", r.times("Text/size=4KB/by=gowebpki", "Text/size=4KB/by=canon"))
	assert.Equal(t, []string{"Text/size=4KB/by=json.Valid", "Text/size=4KB/by=sha256"}, r.names("jsonv2 "))

	assert.Equal(t, 3.0, fastest(r.of("Text/size=4KB/by=jsontext", "ns/op"), r.of("Text/size=4KB/by=canon", "ns/op")))
	reached := map[string]string{}
	for _, g := range r.goals(fastest) {
		reached[g.What] = g.Verdict()
	}
	assert.Equal(t, "yes", reached["text 4KB: jsontext / canon"])
	assert.Equal(t, "not measured", reached["text 4KB: gowebpki / canon"])
	assert.Equal(t, "yes", reached["text 4KB: canon+SHA-256 / floor"], "10000 / (4000 + 2000)")
	assert.Equal(t, "yes", reached["struct 4KB: canon+SHA-256 / json.Marshal"])
	assert.Equal(t, "not measured", reached["text 200B: jsontext / canon"])
}
