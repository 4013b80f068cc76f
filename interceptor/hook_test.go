package interceptor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSaid_EveryDecisionHasWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range decisions {
		if d == run {
			continue // the ordinary case is not logged
		}
		require.True(t, strings.HasPrefix(said[d], "effectonce: "), "%s: %q", d, said[d])
		require.False(t, seen[said[d]], said[d])
		seen[said[d]] = true
	}
}
