// Package outcome names the formats of recorded outcomes.
package outcome

import (
	"encoding/json"
	"errors"

	"github.com/effectonce/effectonce/store"
)

// The formats. Result and Failure are encoded as the worker encodes them, with its
// codec; their context says for which activity.
const (
	Result  = "temporal/result/1"  // marshalled Payloads; none at all for "no payload"
	Failure = "temporal/failure/1" // a marshalled Failure
	Plain   = "plain/json/1"       // JSON that no codec has seen: resolved or seeded; empty for "no payload"
	Lost    = "lost/1"             // applied, but the result could not be encoded: the reason
	Shadow  = "shadow/1"           // nothing: it only says that the body ran
)

// ErrNotJSON is returned when a plain result is not one JSON value.
var ErrNotJSON = errors.New("the result is not one JSON value")

// OfJSON returns the outcome of an action that somebody resolved as applied, with
// the result that the activity would have returned. An empty text is "no result".
func OfJSON(text []byte) (*store.Outcome, error) {
	if len(text) > 0 && !json.Valid(text) {
		return nil, ErrNotJSON
	}
	return &store.Outcome{Format: Plain, Data: text}, nil
}
