package dynamodb

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/effectonce/effectonce/store"
)

// Errors of this package, beside those of package store.
var (
	// ErrMissing is returned when there is no such table in the client's region, also
	// when it was deleted since.
	ErrMissing = errors.New("no such table")

	// ErrForeign is returned by New and EnsureTable when the table has another key
	// than this package's, and so belongs to another program.
	ErrForeign = errors.New("the table is another program's")

	// ErrExpiring is returned by New when the table's time to live is on: DynamoDB
	// would delete records, and what they stand for would be done again.
	ErrExpiring = errors.New("the table deletes items by itself: turn its time to live off")

	// ErrReplicated is returned by New when the table is a global one in which regions
	// agree later: two could claim one action.
	ErrReplicated = errors.New("the table is a global one with eventual consistency: two regions could claim one action")

	// ErrTooLarge is returned when the item would be larger than DynamoDB's 400 KiB.
	// It is a [store.ErrInvalid]: nothing was sent, and the owner may still report
	// something smaller.
	ErrTooLarge = fmt.Errorf("%w: larger than an item can be", store.ErrInvalid)

	// ErrClosed is returned after Close. Nothing was changed.
	ErrClosed = errors.New("store is closed")
)

// failed says what failed, for what, and what can be done about it.
func (s *Store) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("dynamodb: %s: %w", what, s.explain(err))
}

func (s *Store) explain(err error) error {
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("%w: %q in region %s, for the account of these credentials; EnsureTable makes it: %w",
			ErrMissing, s.opts.Table, s.client.Options().Region, err)
	}
	refused, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	switch refused.ErrorCode() {
	case "AccessDeniedException":
		return fmt.Errorf("the policy of these credentials does not allow it on table %q: %w", s.opts.Table, err)
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException",
		"IncompleteSignatureException", "MissingAuthenticationTokenException":
		return fmt.Errorf("AWS does not accept the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, a profile or a role): %w", err)
	}
	return err
}
