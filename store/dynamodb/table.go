package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/effectonce/effectonce/store"
)

// tableTimeout is how long a new table may take to become active.
const tableTimeout = 2 * time.Minute

// EnsureTable makes the table if there is none, on demand (PAY_PER_REQUEST) and
// protected against deletion, and waits until it can be used. It changes nothing about
// one that is there. Turn its point-in-time recovery on yourself.
func EnsureTable(ctx context.Context, client *driver.Client, opts Options) error {
	opts.setDefaults()
	s := &Store{client: client, opts: opts}
	if err := opts.validate(client); err != nil {
		return fmt.Errorf("dynamodb: make a table: %w", err)
	}
	return s.failed("make table "+opts.Table, s.ensure(ctx))
}

func (s *Store) ensure(ctx context.Context) error {
	if err := s.credentials(ctx); err != nil {
		return err
	}
	_, err := s.client.CreateTable(ctx, &driver.CreateTableInput{
		TableName: &s.opts.Table,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(keyName), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema:                 []types.KeySchemaElement{{AttributeName: aws.String(keyName), KeyType: types.KeyTypeHash}},
		BillingMode:               types.BillingModePayPerRequest,
		DeletionProtectionEnabled: aws.Bool(true),
	})
	if _, there := errors.AsType[*types.ResourceInUseException](err); err != nil && !there {
		return err
	}
	described, err := driver.NewTableExistsWaiter(s.client, func(o *driver.TableExistsWaiterOptions) {
		o.MinDelay = 100 * time.Millisecond
	}).WaitForOutput(ctx, &driver.DescribeTableInput{TableName: &s.opts.Table}, tableTimeout)
	if err != nil {
		return err
	}
	return s.usable(described.Table)
}

// check looks at a table that should be there.
func (s *Store) check(ctx context.Context) error {
	if err := s.credentials(ctx); err != nil {
		return err
	}
	described, err := s.client.DescribeTable(ctx, &driver.DescribeTableInput{TableName: &s.opts.Table})
	if err != nil {
		return err
	}
	if err := s.usable(described.Table); err != nil {
		return err
	}
	expiry, err := s.client.DescribeTimeToLive(ctx, &driver.DescribeTimeToLiveInput{TableName: &s.opts.Table})
	if err != nil {
		return err
	}
	if d := expiry.TimeToLiveDescription; d != nil && d.TimeToLiveStatus != types.TimeToLiveStatusDisabled && d.TimeToLiveStatus != "" {
		return fmt.Errorf("%w: table %q, attribute %q (%s)", ErrExpiring, s.opts.Table, aws.ToString(d.AttributeName), d.TimeToLiveStatus)
	}
	return nil
}

// credentials tells those that are missing from those that AWS does not accept.
func (s *Store) credentials(ctx context.Context) error {
	c := s.client.Options().Credentials
	if c == nil {
		return fmt.Errorf("%w: the client has no Credentials", store.ErrInvalid)
	}
	if _, err := c.Retrieve(ctx); err != nil {
		return fmt.Errorf("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the process a profile or a role: %w", err)
	}
	return nil
}

func (s *Store) usable(t *types.TableDescription) error {
	kind := types.ScalarAttributeType("")
	for _, d := range t.AttributeDefinitions {
		if aws.ToString(d.AttributeName) == keyName {
			kind = d.AttributeType
		}
	}
	if len(t.KeySchema) != 1 || aws.ToString(t.KeySchema[0].AttributeName) != keyName || kind != types.ScalarAttributeTypeS {
		return fmt.Errorf("%w: table %q must have the partition key %q of type S, and no sort key", ErrForeign, s.opts.Table, keyName)
	}
	if len(t.Replicas) > 0 && t.MultiRegionConsistency != types.MultiRegionConsistencyStrong {
		return fmt.Errorf("%w: table %q", ErrReplicated, s.opts.Table)
	}
	return nil
}
