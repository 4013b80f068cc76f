package canon_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

// RFC 8785 Appendix B.
func TestNumberRFC8785AppendixB(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	}
	for _, tt := range tests {
		f := math.Float64frombits(tt.bits)
		for _, in := range []string{tt.want, strconv.FormatFloat(f, 'e', -1, 64), strconv.FormatFloat(f, 'e', 20, 64)} {
			got, err := canon.Text(nil, []byte(in), canon.RFC8785Floats())
			if err != nil || string(got) != tt.want {
				t.Errorf("Text(%s) = %s, %v; want %s", in, got, err, tt.want)
			}
		}
		got, err := canon.Value(nil, f)
		if math.Abs(f) > 1<<53-1 {
			checkRefused(t, got, err, canon.ErrUnsafeFloat)
		} else if err != nil || string(got) != tt.want {
			t.Errorf("Value(%x) = %s, %v; want %s", tt.bits, got, err, tt.want)
		}
	}
}

// es6Static are the first values of the published number sequence: edge cases of
// printing doubles.
var es6Static = []uint64{
	0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
	0xc46696695dbd1cc3, 0xc43211ede4974a35, 0xc3fce97ca0f21056, 0xc3c7213080c1a6ac,
	0xc39280f39a348556, 0xc35d9b1f5d20d557, 0xc327af4c4a80aaac, 0xc2f2f2a36ecd5556,
	0xc2be51057e155558, 0xc28840d131aaaaac, 0xc253670dc1555557, 0xc21f0b4935555557,
	0xc1e8d5d42aaaaaac, 0xc1b3de4355555556, 0xc17fca0555555556, 0xc1496e6aaaaaaaab,
	0xc114585555555555, 0xc0e046aaaaaaaaab, 0xc0aa0aaaaaaaaaaa, 0xc074d55555555555,
	0xc040aaaaaaaaaaab, 0xc00aaaaaaaaaaaab, 0xbfd5555555555555, 0xbfa1111111111111,
	0xbf6b4e81b4e81b4f, 0xbf35d867c3ece2a5, 0xbf0179ec9cbd821e, 0xbecbf647612f3696,
	0xbe965e9f80f29212, 0xbe61e54c672874db, 0xbe2ca213d840baf8, 0xbdf6e80fe033c8c6,
	0xbdc2533fe68fd3d2, 0xbd8d51ffd74c861c, 0xbd5774ccac3d3817, 0xbd22c3d6f030f9ac,
	0xbcee0624b3818f79, 0xbcb804ea293472c7, 0xbc833721ba905bd3, 0xbc4ebe9c5db3c61e,
	0xbc18987d17c304e5, 0xbbe3ad30dfcf371d, 0xbbaf7b816618582f, 0xbb792f9ab81379bf,
	0xbb442615600f9499, 0xbb101e77800c76e1, 0xbad9ca58cce0be35, 0xbaa4a1e0a3e6fe90,
	0xba708180831f320d, 0xba3a68cd9e985016, 0x446696695dbd1cc3, 0x443211ede4974a35,
	0x43fce97ca0f21056, 0x43c7213080c1a6ac, 0x439280f39a348556, 0x435d9b1f5d20d557,
	0x4327af4c4a80aaac, 0x42f2f2a36ecd5556, 0x42be51057e155558, 0x428840d131aaaaac,
	0x4253670dc1555557, 0x421f0b4935555557, 0x41e8d5d42aaaaaac, 0x41b3de4355555556,
	0x417fca0555555556, 0x41496e6aaaaaaaab, 0x4114585555555555, 0x40e046aaaaaaaaab,
	0x40aa0aaaaaaaaaaa, 0x4074d55555555555, 0x4040aaaaaaaaaaab, 0x400aaaaaaaaaaaab,
	0x3fd5555555555555, 0x3fa1111111111111, 0x3f6b4e81b4e81b4f, 0x3f35d867c3ece2a5,
	0x3f0179ec9cbd821e, 0x3ecbf647612f3696, 0x3e965e9f80f29212, 0x3e61e54c672874db,
	0x3e2ca213d840baf8, 0x3df6e80fe033c8c6, 0x3dc2533fe68fd3d2, 0x3d8d51ffd74c861c,
	0x3d5774ccac3d3817, 0x3d22c3d6f030f9ac, 0x3cee0624b3818f79, 0x3cb804ea293472c7,
	0x3c833721ba905bd3, 0x3c4ebe9c5db3c61e, 0x3c18987d17c304e5, 0x3be3ad30dfcf371d,
	0x3baf7b816618582f, 0x3b792f9ab81379bf, 0x3b442615600f9499, 0x3b101e77800c76e1,
	0x3ad9ca58cce0be35, 0x3aa4a1e0a3e6fe90, 0x3a708180831f320d, 0x3a3a68cd9e985016,
	0x4024000000000000, 0x4014000000000000, 0x3fe0000000000000, 0x3fa999999999999a,
	0x3f747ae147ae147b, 0x3f40624dd2f1a9fc, 0x3f0a36e2eb1c432d, 0x3ed4f8b588e368f1,
	0x3ea0c6f7a0b5ed8d, 0x3e6ad7f29abcaf48, 0x3e35798ee2308c3a, 0x3ed539223589fa95,
	0x3ed4ff26cd5a7781, 0x3ed4f95a762283ff, 0x3ed4f8c60703520c, 0x3ed4f8b72f19cd0d,
	0x3ed4f8b5b31c0c8d, 0x3ed4f8b58d1c461a, 0x3ed4f8b5894f7f0e, 0x3ed4f8b588ee37f3,
	0x3ed4f8b588e47da4, 0x3ed4f8b588e3849c, 0x3ed4f8b588e36bb5, 0x3ed4f8b588e36937,
	0x3ed4f8b588e368f8, 0x3ed4f8b588e368f1, 0x3ff0000000000000, 0xbff0000000000000,
	0xbfeffffffffffffa, 0xbfeffffffffffffb, 0x3feffffffffffffa, 0x3feffffffffffffb,
	0x3feffffffffffffc, 0x3feffffffffffffe, 0xbfefffffffffffff, 0xbfefffffffffffff,
	0x3fefffffffffffff, 0x3fefffffffffffff, 0x3fd3333333333332, 0x3fd3333333333333,
	0x3fd3333333333334, 0x0010000000000000, 0x000ffffffffffffd, 0x000fffffffffffff,
	0x7fefffffffffffff, 0xffefffffffffffff, 0x4340000000000000, 0xc340000000000000,
	0x4430000000000000, 0x44b52d02c7e14af5, 0x44b52d02c7e14af6, 0x44b52d02c7e14af7,
	0x444b1ae4d6e2ef4e, 0x444b1ae4d6e2ef4f, 0x444b1ae4d6e2ef50, 0x3eb0c6f7a0b5ed8c,
	0x3eb0c6f7a0b5ed8d, 0x41b3de4355555553, 0x41b3de4355555554, 0x41b3de4355555555,
	0x41b3de4355555556, 0x41b3de4355555557, 0xbecbf647612f3696, 0x43143ff3c1cb0959,
}

// es6 yields the published sequence: the static values, 2,000 doubles from the
// smallest normal one on, and then what repeated SHA-256 gives, without zeros, NaN
// and infinities.
func es6(yield func(float64) bool) {
	for _, bits := range es6Static {
		if !yield(math.Float64frombits(bits)) {
			return
		}
	}
	for i := range uint64(2000) {
		if !yield(math.Float64frombits(0x0010000000000000 + i)) {
			return
		}
	}
	for block := [32]byte{}; ; {
		block = sha256.Sum256(block[:])
		for word := block[:]; len(word) > 0; word = word[8:] {
			f := math.Float64frombits(binary.LittleEndian.Uint64(word))
			if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// The first million numbers of the sequence, written as published. It is the
// guard for toolchain upgrades: strconv is the only part of the output that is
// not written here. The text given to canon is strconv's own, with as many
// digits as a double may need and in another form than ECMAScript's.
func TestNumberES6Sequence(t *testing.T) {
	t.Parallel()
	checksums := map[int]string{
		1_000:     "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
		10_000:    "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
		100_000:   "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
		1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",
	}
	lines := 1_000_000
	if testing.Short() || slow {
		lines = 10_000
	}
	hash := sha256.New()
	w := bufio.NewWriterSize(hash, 1<<16)
	var in, line []byte
	n := 0
	for f := range es6 {
		bits := math.Float64bits(f)
		in = strconv.AppendFloat(in[:0], f, 'e', 16, 64)
		line = append(strconv.AppendUint(line[:0], bits, 16), ',')
		var err error
		if line, err = canon.Text(line, in, canon.RFC8785Floats()); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		w.Write(append(line, '\n'))
		if n++; checksums[n] != "" {
			w.Flush()
			if got := hex.EncodeToString(hash.Sum(nil)); got != checksums[n] {
				t.Fatalf("%d lines:\n got %s\nwant %s", n, got, checksums[n])
			}
		}
		if n == lines {
			return
		}
	}
}

func TestNumberFloat32(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   float32
		want string
	}{
		{0.1, "0.1"}, {1.5, "1.5"}, {-0.25, "-0.25"}, {16777216, "16777216"}, {1e-7, "1e-7"},
		{123456789, "123456790"}, {3.4e-38, "3.4e-38"}, {1e15, "1000000000000000"},
	}
	for _, tt := range tests {
		got, err := canon.Value(nil, tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("Value(%g) = %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestNumberFloatBounds(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{1<<53 - 1, -(1<<53 - 1)} {
		got, err := canon.Value(nil, f)
		if want := strconv.FormatInt(int64(f), 10); err != nil || string(got) != want {
			t.Errorf("Value(%g) = %s, %v; want %s", f, got, err, want)
		}
	}
	_, err := canon.Value(nil, map[string]any{"id": 1746030112345678901.0})
	var e *canon.Error
	if !errors.As(err, &e) || e.Reason != canon.ErrUnsafeFloat || e.Path != "[*]" {
		t.Errorf("got %v", err)
	}
}

// Thousandths have a way of their own; the doubles next to them must not take it.
func TestNumberThousandths(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		f := float64(r.Int64N(1e15)>>r.IntN(50)) / 1000
		if r.IntN(2) == 0 {
			f = -f
		}
		for _, f := range []float64{f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1)), f / 10, f * 1e3} {
			if abs := math.Abs(f); abs < 1e-6 {
				continue // ECMAScript has an exponent there
			}
			got, err := canon.Value(nil, f)
			if want := strconv.FormatFloat(f, 'f', -1, 64); err != nil || string(got) != want {
				t.Fatalf("got %s, %v; want %s", got, err, want)
			}
		}
	}
}

func TestNumberLength(t *testing.T) {
	t.Parallel()
	long := "0." + string(bytesOf('0', 1021)) + "1"
	if _, err := canon.Text(nil, []byte(long[:1023]+"0")); err != nil {
		t.Errorf("1,024 bytes: %v", err)
	}
	for _, in := range []any{json.RawMessage(long + "0"), json.Number(long + "0")} {
		got, err := canon.Value(nil, in)
		checkRefused(t, got, err, canon.ErrSize)
	}
}

func bytesOf(c byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = c
	}
	return b
}

func TestOptionIJSON(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"9007199254740991", "9007199254740992", "1152921504606847000", "123456789012345", "1e21", "0.1", "-0"} {
		want, err := canon.Text(nil, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := canon.Text(nil, []byte(in), canon.IJSON())
		if err != nil || string(got) != string(want) {
			t.Errorf("Text(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []any{
		json.RawMessage("9007199254740993"), json.Number("1746030112345678901"),
		int64(1746030112345678901), uint64(math.MaxUint64), int64(math.MinInt64 + 1),
		map[int]int{1: 9007199254740993},
	} {
		got, err := canon.Value(nil, in, canon.IJSON())
		checkRefused(t, got, err, canon.ErrLossy)
	}
	got, err := canon.Text(nil, []byte("9007199254740993"), canon.IJSON(), canon.RFC8785Floats())
	checkRefused(t, got, err, canon.ErrLossy)
}

func TestOptionRFC8785Floats(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"9007199254740993.0", "9007199254740992"},
		{"0.10000000000000000001", "0.1"},
		{"1e-400", "0"},
		{"-1e-400", "0"},
		{"123456789012345.671", "123456789012345.67"},
		{"9007199254740993", "9007199254740993"}, // an integer still keeps its digits
		{"1.7976931348623158e308", "1.7976931348623157e+308"},
	}
	for _, tt := range tests {
		got, err := canon.Text(nil, []byte(tt.in), canon.RFC8785Floats())
		if err != nil || string(got) != tt.want {
			t.Errorf("Text(%s) = %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
	got, err := canon.Text(nil, []byte("1e400"), canon.RFC8785Floats())
	checkRefused(t, got, err, canon.ErrRange)
}
