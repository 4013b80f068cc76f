package canon

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// printed reports whether strconv, asked to parse digits × 10^-places and to print
// the double, gives the same digits and places.
func printed(digits uint64, places int) bool {
	text := strconv.FormatUint(digits, 10)
	f, err := strconv.ParseFloat(text+"e-"+strconv.Itoa(places), 64)
	if err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return strings.Replace(mantissa, ".", "", 1) == text && e == len(text)-1-places
}

func checkShortest(t *testing.T, digits uint64, places int) bool {
	t.Helper()
	short := isShortest(digits, places)
	if short && !printed(digits, places) {
		t.Fatalf("%de-%d is not what its double prints", digits, places)
	}
	return short
}

// What isShortest says, strconv confirms: for random digits, for what doubles
// print, for what is close to that, and for what lies between two doubles.
func TestShortest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 100_000
	if testing.Short() {
		rounds = 20_000
	}
	said, asked := 0, 0
	for range rounds {
		checkShortest(t, r.Uint64()>>r.IntN(64), r.IntN(30))

		f := math.Ldexp(1+r.Float64(), r.IntN(70)-20)
		if r.IntN(8) == 0 {
			f = math.Ldexp(1, r.IntN(70)-20) // a power of two: closer to the double below than above
			f = math.Float64frombits(math.Float64bits(f) + r.Uint64N(3) - 1)
		}
		digits, places := decimalOf(strconv.FormatFloat(f, 'f', -1, 64))
		if digits >= 1e15 && digits < 1e17 && places >= 1 && places <= 22 {
			asked++
			if checkShortest(t, digits, places) {
				said++
			}
		}
		for _, d := range []uint64{digits - 1, digits + 1, digits / 10, digits * 10, digits*10 + 1} {
			checkShortest(t, d, places)
		}

		// Half-way between two doubles, to 17 digits, and its neighbours.
		half := new(big.Float).SetUint64(1<<53 | 1 | r.Uint64N(1<<53))
		half.SetMantExp(half, -r.IntN(70))
		digits, exponent := decimalOfE(half.Text('e', 16))
		for d := digits - 2; d <= digits+2; d++ {
			if places := 16 - exponent; places >= 0 {
				checkShortest(t, d, places)
			}
		}
		checkShortest(t, (1<<52+r.Uint64N(1<<52))*10+5, 1)
	}
	if said < asked*9/10 || asked < rounds/10 {
		t.Errorf("it said so for %d of %d: it saves little", said, asked)
	}
}

// decimalOf takes a decimal apart.
func decimalOf(text string) (digits uint64, places int) {
	whole, fraction, _ := strings.Cut(text, ".")
	digits, _ = strconv.ParseUint(whole+fraction, 10, 64)
	return digits, len(fraction)
}

// decimalOfE takes a decimal with one digit before the point, and an exponent, apart.
func decimalOfE(text string) (digits uint64, exponent int) {
	mantissa, e, _ := strings.Cut(text, "e")
	digits, _ = decimalOf(mantissa)
	exponent, _ = strconv.Atoi(e)
	return digits, exponent
}

func TestShortestBounds(t *testing.T) {
	t.Parallel()
	for _, n := range []struct {
		digits uint64
		places int
	}{
		{0, 1}, {1, 22}, {1, 23}, {1, 400}, {math.MaxUint64, 1}, {math.MaxUint64, 22}, {1e17, 3}, {1e17 - 1, 22}, {1e17 - 1, 1},
		{9007199254740993, 1}, {4503599627370497, 1}, {5, 1}, {15, 1}, {1<<54 - 1, 1}, {1<<53 + 1, 10},
	} {
		checkShortest(t, n.digits, n.places)
	}
}

func FuzzShortest(f *testing.F) {
	f.Add(uint64(14249239537812062), uint8(1))
	f.Add(uint64(30000000000000004), uint8(17))
	f.Add(uint64(3333333333333333), uint8(7))
	f.Fuzz(func(t *testing.T, digits uint64, places uint8) {
		checkShortest(t, digits, int(places))
		if n := digits % 1e17; n != digits {
			checkShortest(t, n, int(places)%23)
		}
	})
}
