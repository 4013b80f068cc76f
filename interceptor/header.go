package interceptor

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

const (
	headerName    = "effectonce"
	headerVersion = 1
)

// header is what the workflow side sends along. It is not encrypted: it holds
// digests and the IDs that workflows choose.
type header struct {
	Version int `json:"v"`

	Root  string `json:"root,omitempty"`  // of scopes Run and Call
	Chain string `json:"chain,omitempty"` // of scope Chain

	Tenant string `json:"tenant,omitempty"`
	Agent  string `json:"agent,omitempty"`

	// For activities.
	Call       string `json:"call,omitempty"` // call token; empty if the arguments cannot be canonicalised
	Intent     string `json:"intent,omitempty"`
	ActionID   string `json:"action,omitempty"`
	Cron       bool   `json:"cron,omitempty"`        // sent by a cron workflow
	UnstableID bool   `json:"unstable_id,omitempty"` // sent by a child with a generated workflow ID
	Unreadable string `json:"unreadable,omitempty"`  // why the workflow's own header could not be read
	Invalid    string `json:"invalid,omitempty"`     // what a workflow said that cannot be sent

	// For workflows.
	Kind   startKind `json:"kind,omitempty"`
	Sender string    `json:"sender,omitempty"` // run ID of the run that continues as new
}

// startKind says what kind of start a header was made for.
type startKind string

const (
	startOfChild        startKind = "child"
	startOfContinuation startKind = "can"
)

var errNewerHeader = errors.New("its version is newer than this worker understands")

func (h header) payload() (*commonpb.Payload, error) {
	h.Version = headerVersion
	// JSON would make one text of two that are not valid.
	for _, said := range []struct{ what, text string }{
		{"tenant", h.Tenant}, {"agent", h.Agent}, {"intent", h.Intent}, {"action ID", h.ActionID},
	} {
		if !utf8.ValidString(said.text) {
			h.Invalid = "the " + said.what + " is not valid UTF-8"
		}
	}
	return converter.GetDefaultDataConverter().ToPayload(h)
}

// readHeader returns the header in fields, and whether there is one.
func readHeader(fields map[string]*commonpb.Payload) (header, bool, error) {
	p, ok := fields[headerName]
	if !ok {
		return header{}, false, nil
	}
	var h header
	if err := json.Unmarshal(p.GetData(), &h); err != nil {
		return header{}, true, fmt.Errorf("header %q is not readable: %w", headerName, err)
	}
	switch {
	case h.Version > headerVersion:
		return header{}, true, fmt.Errorf("header %q: %w (%d > %d)", headerName, errNewerHeader, h.Version, headerVersion)
	case h.Version < headerVersion:
		return header{}, true, fmt.Errorf("header %q has no valid version", headerName)
	}
	return h, true, nil
}
