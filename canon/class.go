package canon

// class is how a part of the arguments counts.
type class uint8

const (
	inherited class = iota // as what is around it
	identity
	checked
	ignored
)
