package canon

import "math/bits"

// powersOf5 are those with at most 52 bits.
var powersOf5 = func() (powers [23]uint64) {
	powers[0] = 1
	for i := range powers[1:] {
		powers[i+1] = powers[i] * 5
	}
	return powers
}()

// isShortest reports whether digits × 10^-places is surely what ECMAScript prints
// for the double nearest to it: no decimal with fewer places rounds to that double,
// and none with as many is closer. A false answer says nothing.
//
// One division does instead of finding the double and printing it, and all of it is
// exact, in integers. Scaled by a power of two, the number is q + r/five, where q has
// 54 bits. Half of q, rounded, is the double; what rounds to it is at most one away.
// The distances below are times five, to be integers.
//
// Half-way between two doubles, where the even one would be nearest, the answer is
// false: that takes a place more than any decimal needs that is closest to its double.
func isShortest(digits uint64, places int) bool {
	if places >= len(powersOf5) {
		return false
	}
	five := powersOf5[places]
	scale := 54 + bits.Len64(five) - bits.Len64(digits)
	if scale < 1 || scale > 59 {
		return false // ten units, below, would not fit
	}
	q, r := bits.Div64(digits>>(64-scale), digits<<scale, five)
	if q >= 1<<54 {
		q, r, scale = q/2, (r+q%2*five)/2, scale-1
	}
	double := (q + 1) / 2
	if double&(double-1) == 0 {
		return false // a power of two: the doubles below are closer to each other
	}
	half := int64(five)               // of the distance between two doubles
	unit := int64(1) << scale         // of the last digit
	off := int64(r) - int64(q%2)*half // from the double to the number
	last := int64(digits % 10)        // one place less is this far below
	closest := -unit < 2*off && 2*off < unit
	return closest && off-last*unit < -half && off+(10-last)*unit > half
}
