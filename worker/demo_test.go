package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/internal/services"
	"github.com/effectonce/effectonce/internal/temporalcli"
)

// startDemo starts the demo with a folder of its own for its folder.
func startDemo(t *testing.T, args ...string) (p *program, folder string) {
	t.Helper()
	folder = t.TempDir()
	env := []string{temporalcli.Env + "=" + services.TemporalCLI(t), "TMPDIR=" + folder}
	return start(t, env, append([]string{"demo"}, args...)...), folder
}

// TestDemo is the demo as a user runs it.
func TestDemo(t *testing.T) {
	t.Parallel()
	p, folder := startDemo(t)
	require.Equal(t, 0, p.end(t, 3*time.Minute), "exit code; output:\n%s\n%s", &p.out, &p.err)

	// The two columns of effects.
	effects := map[string][2]string{}
	for _, found := range regexp.MustCompile(`(?m)^([a-i])  .* {2}(\d+(?: per tool)?) +(\d+(?: per tool)?) +as promised$`).FindAllStringSubmatch(p.out.String(), -1) {
		effects[found[1]] = [2]string{found[2], found[3]}
	}
	assert.Equal(t, map[string][2]string{
		"a": {"2", "1"}, "b": {"2", "1"}, "c": {"2", "1"}, "d": {"2 per tool", "1 per tool"}, "e": {"2", "1"},
		"f": {"2", "1"}, "g": {"6", "3"}, "h": {"2", "2"}, "i": {"1", "1"},
	}, effects, p.out.String())
	for line := range strings.Lines(p.out.String()) {
		if !strings.Contains(line, "effectonce resolve") { // a command is not broken into lines
			assert.LessOrEqual(t, len(line)-1, 120, "the table fits a terminal: %s", line)
		}
	}
	assert.Regexp(t, `effectonce resolve eo1_[0-9a-f]{64} --store 'sqlite:///\S+' --applied --result '\{.*\}' --who demo --why '.*'\n`, p.out.String())
	assert.Contains(t, p.err.String(), "Temporal UI: http://127.0.0.1:")
	assertEmpty(t, folder)
}

// assertEmpty fails if the demo has left something behind.
func assertEmpty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "left behind")
}
