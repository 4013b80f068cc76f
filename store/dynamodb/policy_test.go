package dynamodb_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// watchInput is an option of a client that shows the input of every operation.
func watchInput(see func(in any)) func(*driver.Options) {
	return func(o *driver.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("watch", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				see(in.Parameters)
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
		})
	}
}

// operations is an option of a client that notes the names of all operations.
func operations(into map[string]bool, mu *sync.Mutex) func(*driver.Options) {
	return func(o *driver.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("operations", func(
				ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
			) (middleware.FinalizeOutput, middleware.Metadata, error) {
				mu.Lock()
				into["dynamodb:"+awsmiddleware.GetOperationName(ctx)] = true
				mu.Unlock()
				return next.HandleFinalize(ctx, in)
			}), middleware.Before)
		})
	}
}

// The policies in the documentation allow what the store asks for, and no more.
func TestPoliciesAreWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	sorted := func(of map[string]bool) []string { return slices.Sorted(maps.Keys(of)) }
	policies := policies(t)
	require.Len(t, policies, 2, "one for workers, one for who makes the table")

	asked := map[string]bool{}
	opts := dynamodb.Options{Table: table(t)}
	s := open(t, connect(t, operations(asked, &mu)), opts)
	everything(t, s)
	require.Equal(t, policies[0], sorted(asked))

	asked = map[string]bool{}
	require.NoError(t, dynamodb.EnsureTable(t.Context(), connect(t, operations(asked, &mu)), opts))
	require.Equal(t, policies[1], sorted(asked))
}

// An eventually consistent read could find nothing where there is a record.
func TestReadsAreStronglyConsistent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]bool{}
	client := connect(t, watchInput(func(in any) {
		mu.Lock()
		defer mu.Unlock()
		switch in := in.(type) {
		case *driver.GetItemInput:
			seen["GetItem"] = true
			require.True(t, aws.ToBool(in.ConsistentRead))
		case *driver.ScanInput:
			seen["Scan"] = true
			require.True(t, aws.ToBool(in.ConsistentRead))
		}
	}))
	everything(t, open(t, client, dynamodb.Options{Table: table(t)}))
	require.Len(t, seen, 2)
}

// policies returns the actions of each policy in the documentation, in order.
func policies(t *testing.T) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations", "dynamodb.md"))
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1) {
		var policy struct {
			Version   string
			Statement []struct {
				Effect, Resource string
				Action           []string
			}
		}
		require.NoError(t, json.Unmarshal(block[1], &policy))
		require.Equal(t, "2012-10-17", policy.Version)
		require.Len(t, policy.Statement, 1)
		require.Equal(t, "Allow", policy.Statement[0].Effect)
		require.True(t, strings.HasSuffix(policy.Statement[0].Resource, ":table/"+dynamodb.DefaultTable))
		all = append(all, slices.Sorted(slices.Values(policy.Statement[0].Action)))
	}
	return all
}

// everything calls every method of a store.
func everything(t *testing.T, s *dynamodb.Store) {
	t.Helper()
	q := request()
	r := claim(t, s, q)
	_, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
	require.NoError(t, err)
	r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
	require.NoError(t, err)
	r, err = s.TakeOver(t.Context(), again(q), r)
	require.NoError(t, err)
	_, err = s.Amend(t.Context(), r, store.Change{Verb: store.Forget, Force: true, Who: "ann"})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	_, err = s.Lookup(t.Context(), q.Key)
	require.NoError(t, err)
	_, err = s.History(t.Context(), q.Ref)
	require.NoError(t, err)
	_, err = s.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	_, err = s.Sweep(t.Context(), 1)
	require.NoError(t, err)
	_, err = s.Expire(t.Context(), 1)
	require.NoError(t, err)
}
