package dynamodb_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

func TestEnsureTableMakesItOnceAndChangesNothingLater(t *testing.T) {
	t.Parallel()
	w, client := over(t)
	opts := dynamodb.Options{Table: table(t)}
	require.NoError(t, dynamodb.EnsureTable(t.Context(), client, opts))
	require.Equal(t, []string{"CreateTable", "DescribeTable"}, w.asked())
	s := open(t, client, opts)
	r := claim(t, s, request())
	require.NoError(t, dynamodb.EnsureTable(t.Context(), client, opts))
	_, err := s.Get(t.Context(), r.Ref)
	require.NoError(t, err)
}

// A mistyped name is not an empty store that has forgotten every action.
func TestMissingTableIsNotMade(t *testing.T) {
	t.Parallel()
	client := connect(t)
	_, err := dynamodb.New(t.Context(), client, dynamodb.Options{Table: "no-such-table"})
	require.ErrorIs(t, err, dynamodb.ErrMissing)
	require.ErrorContains(t, err, `"no-such-table" in region `+client.Options().Region)
	require.ErrorContains(t, err, "EnsureTable")
}

func TestTableOfAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	client := connect(t)
	s, n := types.ScalarAttributeTypeS, types.ScalarAttributeTypeN
	for what, c := range map[string]struct {
		hash, sort string
		kind       types.ScalarAttributeType
	}{
		"name": {"id", "", s}, "type": {"key", "", n}, "sort key": {"key", "at", s},
	} {
		name := "foreign-" + store.NewToken().String()
		in := &driver.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &c.hash, AttributeType: c.kind}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: &c.hash, KeyType: types.KeyTypeHash}},
		}
		if c.sort != "" {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &c.sort, AttributeType: n})
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: &c.sort, KeyType: types.KeyTypeRange})
		}
		_, err := client.CreateTable(t.Context(), in)
		require.NoError(t, err, what)
		t.Cleanup(func() { drop(t, name) })
		opts := dynamodb.Options{Table: name}
		require.ErrorIs(t, dynamodb.EnsureTable(t.Context(), client, opts), dynamodb.ErrForeign, what)
		_, err = dynamodb.New(t.Context(), client, opts)
		require.ErrorIs(t, err, dynamodb.ErrForeign, what)
	}
}

// dynalite has neither time to live nor replicas: the wire says what DynamoDB would.
func TestTableThatCouldLoseRecordsIsRefused(t *testing.T) {
	t.Parallel()
	opts := dynamodb.Options{Table: table(t)}
	w, client := over(t)
	try := func() error {
		_, err := dynamodb.New(t.Context(), client, opts)
		return err
	}
	for _, status := range []string{"ENABLED", "ENABLING", "DISABLING"} {
		w.edit("DescribeTimeToLive", `"TimeToLiveStatus":"DISABLED"`, `"TimeToLiveStatus":"`+status+`","AttributeName":"expires"`)
		err := try()
		require.ErrorIs(t, err, dynamodb.ErrExpiring)
		require.ErrorContains(t, err, `"expires"`)
	}
	w.edit("DescribeTable", `"TableStatus"`, `"Replicas":[{"RegionName":"eu-west-1"}],"TableStatus"`)
	require.ErrorIs(t, try(), dynamodb.ErrReplicated)
	w.edit("DescribeTable", `"TableStatus"`, `"MultiRegionConsistency":"EVENTUAL","Replicas":[{"RegionName":"eu-west-1"}],"TableStatus"`)
	require.ErrorIs(t, try(), dynamodb.ErrReplicated)
	w.edit("DescribeTable", `"TableStatus"`, `"MultiRegionConsistency":"STRONG","Replicas":[{"RegionName":"eu-west-1"}],"TableStatus"`)
	require.NoError(t, try())
	w.answer("DescribeTimeToLive", http.StatusBadRequest, refusal("AccessDeniedException", "not authorized to perform: dynamodb:DescribeTimeToLive"))
	require.ErrorContains(t, try(), "dynamodb:DescribeTimeToLive") // not knowing is no yes
}

func refusal(code, text string) string {
	return `{"__type":"com.amazon.coral.service#` + code + `","message":"` + text + `"}`
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	q := request()
	for code, says := range map[string]string{
		"AccessDeniedException":         `the policy of these credentials does not allow it on table "` + s.Table() + `"`,
		"UnrecognizedClientException":   "AWS does not accept the credentials (AWS_ACCESS_KEY_ID",
		"InvalidSignatureException":     "AWS does not accept the credentials",
		"ExpiredTokenException":         "AWS_SESSION_TOKEN",
		"ResourceNotFoundException":     dynamodb.ErrMissing.Error(),
		"RequestLimitExceeded":          "RequestLimitExceeded",
		"ValidationException":           "ValidationException",
		"SomethingThatIsNotYetInvented": "SomethingThatIsNotYetInvented",
	} {
		w.answer("UpdateItem", http.StatusBadRequest, refusal(code, "said AWS"))
		_, err := s.Claim(t.Context(), q)
		require.ErrorContains(t, err, says, code)
		require.ErrorContains(t, err, "said AWS", code)
		require.ErrorContains(t, err, "claim "+q.Key.String(), code)
	}
	w.on(nil)
	claim(t, s, q)
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]struct {
		change func(*driver.Options)
		opts   dynamodb.Options
	}{
		"no Region: set AWS_REGION":   {func(o *driver.Options) { o.Region = "" }, dynamodb.Options{}},
		"Timeout must be":             {func(*driver.Options) {}, dynamodb.Options{Timeout: time.Millisecond}},
		"no Credentials":              {func(o *driver.Options) { o.Credentials = nil }, dynamodb.Options{}},
		"set AWS_ACCESS_KEY_ID and A": {func(o *driver.Options) { o.Credentials = credentials.NewStaticCredentialsProvider("", "", "") }, dynamodb.Options{}},
	} {
		client := connect(t, c.change)
		_, err := dynamodb.New(t.Context(), client, c.opts)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, dynamodb.EnsureTable(t.Context(), client, c.opts), says)
	}
	_, err := dynamodb.New(t.Context(), nil, dynamodb.Options{})
	require.ErrorIs(t, err, store.ErrInvalid)
}

func TestZeroOptionsAreTheDefaults(t *testing.T) {
	t.Parallel()
	w, client := over(t)
	w.answer("DescribeTable", http.StatusBadRequest, refusal("ResourceNotFoundException", "not found"))
	_, err := dynamodb.New(t.Context(), client, dynamodb.Options{})
	require.ErrorContains(t, err, `"`+dynamodb.DefaultTable+`"`)
	require.Equal(t, "effectonce", dynamodb.DefaultTable)
}

// What a table is protected by, dynalite does not tell.
func TestNewTableIsOnDemandAndProtected(t *testing.T) {
	t.Parallel()
	client := connect(t)
	var asked *driver.CreateTableInput
	name := "effectonce-test-" + store.NewToken().String()
	watched := connect(t, watchInput(func(in any) {
		if c, ok := in.(*driver.CreateTableInput); ok {
			asked = c
		}
	}))
	require.NoError(t, dynamodb.EnsureTable(t.Context(), watched, dynamodb.Options{Table: name}))
	t.Cleanup(func() { drop(t, name) })
	require.True(t, aws.ToBool(asked.DeletionProtectionEnabled))
	described, err := client.DescribeTable(t.Context(), &driver.DescribeTableInput{TableName: &name})
	require.NoError(t, err)
	require.Equal(t, types.BillingModePayPerRequest, described.Table.BillingModeSummary.BillingMode)
}
