package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/interceptor"
	"github.com/effectonce/effectonce/internal/provider"
	"github.com/effectonce/effectonce/store/memory"
)

// effects is a result with the same number of effects of each kind of a row.
func effects(r row, n int) result {
	all := result{effects: map[string]int{}}
	for _, k := range r.kinds {
		all.effects[string(k)] = n
	}
	return all
}

func TestFaults(t *testing.T) {
	t.Parallel()
	one := row{id: "a", kinds: refunds, promised: 1}
	harmless := row{id: "h", kinds: refunds, promised: 2, harmless: true}
	agent := row{id: "d", kinds: allTools, promised: 1}

	uneven := effects(agent, 1)
	uneven.effects["ticket"] = 2
	uninvited := effects(one, 1)
	uninvited.effects["charge"] = 1
	failed := effects(one, 1)
	failed.err = errors.New("the workflow failed")

	for name, test := range map[string]struct {
		row           row
		without, with result
		want          string // empty: as promised
	}{
		"AsPromised":           {one, effects(one, 2), effects(one, 1), ""},
		"PerTool":              {agent, effects(agent, 2), effects(agent, 1), ""},
		"HarmlessWithout":      {harmless, effects(harmless, 2), effects(harmless, 2), ""},
		"Twice":                {one, effects(one, 2), effects(one, 2), "row a, with effectonce: effects of kind refund: 2, promised are 1"},
		"Swallowed":            {harmless, effects(harmless, 2), effects(harmless, 1), "row h, with effectonce: effects of kind refund: 1, promised are 2"},
		"OneToolTwice":         {agent, effects(agent, 2), uneven, "row d, with effectonce: effects of kind ticket: 2, promised are 1"},
		"NobodyAskedForIt":     {one, effects(one, 2), uninvited, "row a, with effectonce: effects of kind charge, which nobody asked for"},
		"ShowsNothing":         {one, effects(one, 1), effects(one, 1), "row a, without effectonce: effects of kind refund: 1, so this row shows nothing"},
		"NotHarmlessAfterAll":  {harmless, effects(harmless, 3), effects(harmless, 2), "row h, without effectonce: effects of kind refund: 3, expected are 2"},
		"WorkflowFailed":       {one, effects(one, 2), failed, "row a, with effectonce: the workflow failed"},
		"WorkflowFailedBefore": {one, failed, effects(one, 1), "row a, without effectonce: the workflow failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := line{row: test.row, without: test.without, with: test.with}.faults()
			if test.want == "" {
				assert.Empty(t, faults)
			} else {
				assert.Contains(t, faults, test.want)
			}
		})
	}
}

func TestPrintTable(t *testing.T) {
	t.Parallel()
	d := row{id: "d", title: "workflow reset", scope: "run", unknown: reconcile, kinds: allTools, promised: 1}
	uneven := effects(d, 1)
	uneven.effects["ticket"] = 2
	var out strings.Builder
	printTable(&out, []line{
		{row: d, without: effects(d, 2), with: effects(d, 1)},
		{row: d, without: effects(d, 2), with: uneven},
	}, 3*time.Second)
	assert.Equal(t, explanation+`
   scenario        policy          times  bodies  effects     effects     result
                                   asked  run     without     with
d  workflow reset  Run, Reconcile  0      0       2 per tool  1 per tool  as promised
d  workflow reset  Run, Reconcile  0      0       2 per tool  1+1+2       BROKEN

BROKEN row d, with effectonce: effects of kind ticket: 2, promised are 1
Took 3s.
`, out.String())
}

func TestChoose(t *testing.T) {
	t.Parallel()
	all, err := choose(nil)
	require.NoError(t, err)
	assert.Len(t, all, 9)
	some, err := choose([]string{"d", "a"})
	require.NoError(t, err)
	require.Len(t, some, 2)
	assert.Equal(t, "ad", some[0].id+some[1].id, "in the order of the table")
	_, err = choose([]string{"a", "x"})
	assert.ErrorContains(t, err, `no row "x"`)
}

// TestRowsAreComplete fails if a row has a policy that the interceptor refuses.
func TestRowsAreComplete(t *testing.T) {
	t.Parallel()
	ask := func(*provider.Client) interceptor.ReconcileFunc {
		return func(context.Context, interceptor.Question) (interceptor.Answer, error) {
			return interceptor.Answer{}, nil
		}
	}
	var ids string
	for _, r := range rows {
		_, err := r.plugin(memory.New(memory.Options{}), nil, ask)
		assert.NoError(t, err, r.id)
		assert.NotNil(t, r.play, r.id)
		assert.NotEmpty(t, r.kinds, r.id)
		ids += r.id
	}
	assert.Equal(t, "abcdefghi", ids)
}

func TestTally(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tally.txt")
	one, err := openTally(path)
	require.NoError(t, err)
	two, err := openTally(path)
	require.NoError(t, err)
	one.note(asked, "a-with", "Refund")
	two.note(asked, "a-with", "CreateTicket")
	two.note(asked, "a-without", "Refund")
	one.note(body, "a-with", "Refund")
	one.note(asked, "a-with", "PlanStep") // has no effect

	for what, want := range map[event]int{asked: 2, body: 1} {
		got, err := count(path, what, "a-with")
		require.NoError(t, err)
		assert.Equal(t, want, got, what)
	}
	require.NoError(t, os.Remove(path))
	_, err = count(path, asked, "a-with")
	assert.ErrorIs(t, err, os.ErrNotExist)
}
