package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := Draw(&out, "a < b", "callers", "actions/s", []float64{1, 8, 64}, []Line{
		{"floor", []float64{100, 1000, 1000}},
		{"lane", []float64{100, math.NaN(), 10_000}},
	})
	require.NoError(t, err)

	decoder := xml.NewDecoder(strings.NewReader(out.String()))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "is well-formed")
	}
	assert.Contains(t, out.String(), "a &lt; b")
	// Equal factors are equal distances; the figure that is missing is bridged.
	assert.Contains(t, out.String(), `d="M70.0 370.0L310.0 205.0L550.0 205.0"`)
	assert.Contains(t, out.String(), `d="M70.0 370.0L550.0 40.0"`)
}

func TestDrawNothing(t *testing.T) {
	t.Parallel()
	assert.Error(t, Draw(io.Discard, "", "", "", []float64{1, 8}, []Line{{"lane", []float64{0, math.NaN()}}}))
	assert.Error(t, Draw(io.Discard, "", "", "", []float64{1}, []Line{{"lane", []float64{5}}}))
}
