package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/effectonce/effectonce"
	"github.com/effectonce/effectonce/activities"
	"github.com/effectonce/effectonce/internal/outcome"
	"github.com/effectonce/effectonce/internal/storeurl"
	"github.com/effectonce/effectonce/store"
)

// Who resolves, and why: it stays in the history of the record.
const (
	operator = "demo"
	reason   = "found in the books of the provider"
)

// resolveHeld does what an operator does about a refund whose outcome nobody knows: waits until it
// is held, looks into the provider's books, and resolves it as applied. It returns the result that
// the workflow has to get.
func (s *session) resolveHeld(ctx context.Context, run client.WorkflowRun) (activities.Receipt, error) {
	if err := until(ctx, "the refund is held", func() (bool, error) { return s.held(ctx, run) }); err != nil {
		return activities.Receipt{}, err
	}
	found, err := s.effects(ctx)
	if err != nil {
		return activities.Receipt{}, err
	}
	if len(found) != 1 {
		return activities.Receipt{}, fmt.Errorf("the provider's books have %d refunds, want 1", len(found))
	}
	result := found[0].Response
	key, err := resolveApplied(ctx, s.storeURL, run.GetID(), result)
	if err != nil {
		return activities.Receipt{}, fmt.Errorf("resolve the refund of %s: %w", run.GetID(), err)
	}
	s.note = fmt.Sprintf("The refund of row %s was held, because nobody knew whether it had happened, and resolved as this does:\n  %s", s.row.id,
		strings.Join([]string{
			"effectonce resolve", key, "--store", quoted(s.storeURL), "--applied", "--result", quoted(string(result)),
			"--who", operator, "--why", quoted(reason),
		}, " "))
	var receipt activities.Receipt
	return receipt, json.Unmarshal(result, &receipt)
}

// held reports whether the workflow waits for somebody to resolve its refund.
func (s *session) held(ctx context.Context, run client.WorkflowRun) (bool, error) {
	described, err := s.client.DescribeWorkflow(ctx, run.GetID(), run.GetRunID())
	if err != nil {
		return false, err
	}
	for _, pending := range described.RawResponse.GetPendingActivities() {
		if pending.GetLastFailure().GetApplicationFailureInfo().GetType() == effectonce.ErrTypeUnknown {
			return true, nil
		}
	}
	return false, nil
}

// resolveApplied records that the only uncertain action of a workflow happened, and with which
// result. It returns the action's key.
func resolveApplied(ctx context.Context, url, workflowID string, result []byte) (key string, err error) {
	opened, err := storeurl.Open(ctx, url, storeurl.Options{Existing: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	lister, ok := opened.Store.(store.Lister)
	if !ok {
		return "", fmt.Errorf("store %s cannot list", opened.Name)
	}
	records, err := lister.List(ctx, store.Filter{WorkflowID: workflowID, Uncertain: true})
	if err != nil {
		return "", err
	}
	if len(records) != 1 {
		return "", fmt.Errorf("%d actions are uncertain, want 1", len(records))
	}
	applied, err := outcome.OfJSON(result)
	if err != nil {
		return "", err
	}
	_, err = opened.Store.Amend(ctx, records[0], store.Change{Verb: store.Complete, Outcome: applied, Who: operator, Why: reason})
	return records[0].Key.String(), err
}

// quoted makes text one word for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
