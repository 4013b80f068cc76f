package canon

const (
	defaultMaxSize  = 16 << 20
	defaultMaxDepth = 1000
	maxNumber       = 1024 // bytes of one number's text
	maxSafeInteger  = 1<<53 - 1
)

// An Option changes what is accepted or how numbers are written. Options that
// change bytes change keys: choose once.
type Option struct {
	kind optionKind
	n    int
}

type optionKind uint8

const (
	maxSize optionKind = iota + 1
	maxDepth
	rfc8785Floats
	iJSON
	verify
)

// MaxSize limits a text's input and every output to n bytes, 16 MiB by default.
// An n below 1 or above 256 MiB leaves the default in place. More is refused
// with [ErrSize].
func MaxSize(n int) Option { return Option{maxSize, n} }

// MaxDepth limits how deep arrays and objects may be nested, 1,000 by default.
// An n below 1 or above 10,000 leaves the default in place. More is refused
// with [ErrDepth].
func MaxDepth(n int) Option { return Option{maxDepth, n} }

// RFC8785Floats writes a number with a fraction or an exponent as RFC 8785 does,
// rounded to the nearest double, instead of refusing it with [ErrLossy].
// Different numbers may then be written alike.
func RFC8785Floats() Option { return Option{kind: rfc8785Floats} }

// IJSON refuses with [ErrLossy] every integer that a peer with only doubles,
// such as JavaScript, could not write again with the same digits.
func IJSON() Option { return Option{kind: iJSON} }

// Verify encodes every value twice and refuses it with [ErrUnstable] if the
// bytes differ, as they may when a MarshalJSON method ranges over a map. It does
// nothing for text.
func Verify() Option { return Option{kind: verify} }

// options are what a call works with.
type options struct {
	maxSize, maxDepth int
	roundFloats       bool // RFC8785Floats
	doublesOnly       bool // IJSON
	verify            bool
}

func newOptions(list []Option) options {
	o := options{maxSize: defaultMaxSize, maxDepth: defaultMaxDepth}
	for _, opt := range list {
		switch opt.kind {
		case maxSize:
			if opt.n >= 1 && opt.n <= 1<<28 {
				o.maxSize = opt.n
			}
		case maxDepth:
			if opt.n >= 1 && opt.n <= 10_000 {
				o.maxDepth = opt.n
			}
		case rfc8785Floats:
			o.roundFloats = true
		case iJSON:
			o.doublesOnly = true
		case verify:
			o.verify = true
		}
	}
	return o
}
