// Separate from the library: other canonicalisers are wanted in tests and benchmarks of package canon only.
module github.com/effectonce/effectonce/internal/peers

go 1.26.0

require (
	github.com/effectonce/effectonce v0.0.0
	github.com/go-json-experiment/json v1.27.2
	github.com/gowebpki/jcs v1.0.2
)

replace github.com/effectonce/effectonce => ../..
