package dynamodb

import (
	"fmt"
	"time"

	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/effectonce/effectonce/store"
)

// DefaultTable is the table that is used unless [Options.Table] says otherwise.
const DefaultTable = "effectonce"

// Options configure [New] and [EnsureTable]. The zero value is ready to use.
type Options struct {
	// Table is the name of the table. Two tables are two stores that know nothing of
	// each other. Default [DefaultTable].
	Table string

	// Timeout bounds a call, with all that the client sends again by its own retry
	// policy. A claim goes on for so long after its caller has left. Default 10s; must
	// be at least 100ms.
	Timeout time.Duration

	clock func() time.Time // for tests
}

func (o *Options) setDefaults() {
	if o.Table == "" {
		o.Table = DefaultTable
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.clock == nil {
		o.clock = steady()
	}
}

func (o *Options) validate(client *driver.Client) error {
	switch {
	case client == nil:
		return fmt.Errorf("%w: the client is nil", store.ErrInvalid)
	case client.Options().Region == "":
		return fmt.Errorf("%w: the client has no Region: set AWS_REGION, or Region in its configuration", store.ErrInvalid)
	case o.Timeout < 100*time.Millisecond:
		return fmt.Errorf("%w: Timeout must be at least 100ms, got %s", store.ErrInvalid, o.Timeout)
	}
	return nil
}
