package postgres

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/effectonce/effectonce/store"
)

// PostgreSQL's text holds neither NUL bytes nor anything that is not UTF-8. What
// names an action or is needed to read its outcome is refused before it is sent;
// what is only told in the history is told as well as can be, because no report
// may be lost over an error message.

func checkRequest(q store.Request) error {
	if err := q.Validate(); err != nil {
		return err
	}
	for _, f := range []struct{ name, value string }{
		{"Namespace", q.Namespace}, {"ScopeKind", q.ScopeKind}, {"ScopeID", q.ScopeID}, {"Tenant", q.Tenant},
		{"Operation", q.Operation}, {"Intent", q.Intent}, {"WorkflowID", q.WorkflowID}, {"RunID", q.RunID},
	} {
		if err := checkText(f.name, f.value); err != nil {
			return err
		}
	}
	if q.Attempt < math.MinInt32 || q.Attempt > math.MaxInt32 {
		return fmt.Errorf("%w: Attempt must fit into 32 bits, got %d", store.ErrInvalid, q.Attempt)
	}
	return nil
}

func checkOutcome(o *store.Outcome) error {
	if o == nil {
		return nil
	}
	return checkText("Outcome.Format", o.Format)
}

func checkText(name, value string) error {
	switch {
	case strings.Contains(value, "\x00"):
		return fmt.Errorf("%w: %s contains a NUL byte, which PostgreSQL cannot keep in text", store.ErrInvalid, name)
	case !utf8.ValidString(value):
		return fmt.Errorf("%w: %s is not valid UTF-8", store.ErrInvalid, name)
	}
	return nil
}

// told makes any text fit for the history.
func told(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
