package ratio

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figures []float64
		want    float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 100}, 3},
		{[]float64{9, math.NaN(), 1, 5}, 5},
	} {
		assert.Equal(t, c.want, Median(c.figures), "%v", c.figures)
	}
	assert.True(t, math.IsNaN(Median(nil)))
	figures := []float64{3, 1, 2}
	Median(figures)
	assert.Equal(t, []float64{3, 1, 2}, figures, "the caller's figures keep their order: it is that of the rounds")
}

func TestOf(t *testing.T) {
	t.Parallel()

	t.Run("RatiosAreTakenInsideRounds", func(t *testing.T) {
		t.Parallel()
		// The machine was half as fast in the second round, for both.
		median, least, most := Of([]float64{400, 200, 440}, []float64{100, 50, 100})
		assert.Equal(t, []float64{4, 4, 4.4}, []float64{median, least, most})
	})

	t.Run("RoundsWithoutAFigureDoNotCount", func(t *testing.T) {
		t.Parallel()
		median, _, _ := Of([]float64{2, math.NaN(), 8, 1}, []float64{1, 1, 2, 0})
		assert.Equal(t, 3.0, median)
		median, _, _ = Of(nil, []float64{1})
		assert.True(t, math.IsNaN(median))
	})
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal Goal
		want string
	}{
		{Goal{Bound: 2, Reached: 2.1}, "yes"},
		{Goal{Bound: 2, Reached: 2}, "yes"},
		{Goal{Bound: 2, Reached: 1.9}, "no"},
		{Goal{Bound: 2, Reached: 1.9, AtMost: true}, "yes"},
		{Goal{Bound: 2, Reached: 2, AtMost: true}, "yes"},
		{Goal{Bound: 2, Reached: 2.1, AtMost: true}, "no"},
		{Goal{Bound: 2, Reached: math.NaN(), AtMost: true}, "not measured"},
	} {
		assert.Equal(t, c.want, c.goal.Verdict(), "%+v", c.goal)
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.00", 0.123: "0.12", 1: "1.00", 9.94: "9.94", 9.96: "10.0", 12.34: "12.3", 40: "40", 99.7: "100", 12345.6: "12346",
	} {
		assert.Equal(t, want, Figure(f))
	}
	assert.Equal(t, "–", Figure(math.NaN()))
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := Table{Head: []string{"way", "c=1", "c=64"}}
	table.Add("floor", "1.00", "–")
	table.Add("lane", "0.95")
	var out strings.Builder
	table.Print(&out)
	assert.Equal(t, `| way   |  c=1 | c=64 |
| ----- | ---: | ---: |
| floor | 1.00 |    – |
| lane  | 0.95 |      |

`, out.String())
}
