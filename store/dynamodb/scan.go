package dynamodb

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// filter is what DynamoDB leaves out of the answers of a scan. It costs the same.
type filter struct {
	expression string
	names      map[string]string
	values     item
}

// scan reads the whole table, a page at a time. Each page has the timeout of a call.
func (s *Store) scan(ctx context.Context, f filter) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		in := &driver.ScanInput{TableName: &s.opts.Table, ConsistentRead: aws.Bool(true)}
		if f.expression != "" {
			in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &f.expression, f.names, f.values
		}
		for {
			page, err := s.page(ctx, in)
			if err != nil {
				yield(row{}, err)
				return
			}
			for _, i := range page.Items {
				if !yield(s.decode(i, s.now())) {
					return
				}
			}
			if in.ExclusiveStartKey = page.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}

func (s *Store) page(ctx context.Context, in *driver.ScanInput) (*driver.ScanOutput, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return s.client.Scan(ctx, in)
}
