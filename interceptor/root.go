package interceptor

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"github.com/effectonce/effectonce/key"
)

// roots are what the keys of a run hang on. They survive resets, which run IDs,
// and the workflow IDs of children, do not.
type roots struct {
	run   string
	chain string
}

// rootsOf returns the roots of a run from its start header, if it has one.
func rootsOf(info *workflow.Info, h header, ok bool) roots {
	// Test environments know no original run ID.
	origin := cmp.Or(info.OriginalRunID, info.WorkflowExecution.RunID)
	first := cmp.Or(info.FirstRunID, origin)
	own := roots{run: origin, chain: first}
	if !ok || info.CronSchedule != "" {
		return own // a cron tick gets the header of the first one: it is new work
	}
	sent := roots{run: cmp.Or(h.Root, first), chain: cmp.Or(h.Chain, first)}
	switch {
	case info.Attempt > 1:
		return roots{run: derive(sent.run, "retry", strconv.Itoa(int(info.Attempt))), chain: sent.chain}
	case h.Kind == startOfContinuation && h.Sender == info.ContinuedExecutionRunID,
		h.Kind == startOfChild && info.ParentWorkflowExecution != nil && info.ContinuedExecutionRunID == "":
		return sent
	}
	return own
}

// ofContinuation returns the roots that the run gives to its continuation.
func (r roots) ofContinuation() roots {
	return roots{run: derive(r.run, "can"), chain: r.chain}
}

// ofChild returns the roots that the run gives to the number-th equal child. id is
// its explicit workflow ID, or a text of its input if it has none.
func (r roots) ofChild(childType, id string, number int) roots {
	root := derive(r.run, "child", childType, id, strconv.Itoa(number))
	return roots{run: root, chain: root}
}

// derive returns a root below root. It keeps the run ID it descends from in front:
// stores cluster records by it.
func derive(root string, parts ...string) string {
	d, err := key.Digest(append([]string{"effectonce/root", root}, parts...)...)
	if err != nil {
		// A part that is not valid UTF-8 cannot be canonicalised. It must not fail the
		// workflow, so it is quoted, which is injective too.
		for i, p := range parts {
			parts[i] = strconv.QuoteToASCII(p)
		}
		d, err = key.Digest(append([]string{"effectonce/root/quoted", strconv.QuoteToASCII(root)}, parts...)...)
		if err != nil {
			panic(fmt.Sprintf("effectonce: ASCII text cannot be canonicalised: %v", err))
		}
	}
	top, _, _ := strings.Cut(root, "/")
	return top + "/" + strings.TrimPrefix(d.String(), key.Prefix)
}

// cluster returns where stores may cluster the records of a root: the bytes of the
// run ID it descends from.
func cluster(root string) [16]byte {
	top, _, _ := strings.Cut(root, "/")
	if id, err := uuid.Parse(top); err == nil {
		return id
	}
	sum := sha256.Sum256([]byte(top))
	return [16]byte(sum[:16])
}

// unstableID reports whether the run is a child whose workflow ID the server made
// from its parent's run ID: a reset of the parent changes it.
func unstableID(info *workflow.Info) bool {
	p := info.ParentWorkflowExecution
	return p != nil && strings.HasPrefix(info.WorkflowExecution.ID, p.RunID+"_")
}
