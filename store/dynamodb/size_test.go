package dynamodb_test

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// raw reads an item as it is in the table.
func raw(t *testing.T, s *dynamodb.Store, ref store.Ref) map[string]types.AttributeValue {
	t.Helper()
	name := s.Table()
	got, err := connect(t).GetItem(t.Context(), &driver.GetItemInput{TableName: &name, Key: keyOf(ref)})
	require.NoError(t, err)
	return got.Item
}

func keyOf(ref store.Ref) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: ref.Key.String()}}
}

// bytesOf is the size of an item by DynamoDB's rules.
func bytesOf(item map[string]types.AttributeValue) (n int) {
	for name, value := range item {
		n += len(name) + bytesOfValue(value)
	}
	return n
}

func bytesOfValue(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN: // a byte for two significant digits, and one more
		return (len(strings.Trim(v.Value, "-0"))+1)/2 + 1
	case *types.AttributeValueMemberL:
		n := 3
		for _, e := range v.Value {
			n += 1 + bytesOfValue(e)
		}
		return n
	}
	return math.MaxInt32
}

// typical is an action as the interceptor asks for it, with 120 bytes of result.
func typical() (store.Request, store.Change) {
	q := request()
	q.ScopeKind, q.ScopeID, q.Tenant = "run", "0198f3d2-7a52-7c05-9b43-4f1e2d3c4b5a", "acme"
	q.Operation, q.WorkflowID, q.RunID = "RefundPayment", "support-case-48213", q.ScopeID
	q.Scheduled = q.Fingerprint
	q.Fields = make([]byte, 34)
	q.Who = "worker-7f9c@10.0.3.17"
	q.Retention = 30 * 24 * time.Hour
	c := done(strings.Repeat("x", 120))
	c.Outcome.Format, c.Who = "payload/1", q.Who
	return q, c
}

// The figures in the documentation: write units are whole kilobytes of the larger item,
// read units four of them.
func TestCostsOfATypicalAction(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	q, c := typical()
	r := claim(t, s, q)
	units := func(what string, want int) {
		t.Helper()
		n := bytesOf(raw(t, s, q.Ref))
		t.Logf("%s: %d bytes", what, n)
		require.Equal(t, want, (n+1023)/1024, "write units, for %d bytes %s", n, what)
		require.LessOrEqual(t, n, 4096, "more than one read unit")
	}
	units("claimed", 1)
	_, err := s.Renew(t.Context(), time.Hour, []store.Claim{r.Claim()})
	require.NoError(t, err)
	units("renewed", 1)
	_, err = s.Report(t.Context(), r.Claim(), c)
	require.NoError(t, err)
	units("completed", 2)
	s2 := open(t, connect(t), dynamodb.Options{Table: s.Table()}.WithClock(func() time.Time { return time.Now().Add(365 * 24 * time.Hour) }))
	n, err := s2.Expire(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	units("expired", 1)
}

// The size that the store counts is never less than what DynamoDB counts, and hardly more.
func TestItemIsRefusedBeforeDynamoDBDoes(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	q, c := typical()
	r := claim(t, s, q)
	w.asked()
	c.Outcome.Data = make([]byte, 400<<10)
	_, err := s.Report(t.Context(), r.Claim(), c)
	require.ErrorIs(t, err, dynamodb.ErrTooLarge)
	require.ErrorIs(t, err, store.ErrInvalid)
	require.ErrorContains(t, err, "at most 409600")
	require.Empty(t, w.asked(), "it was sent")

	low, high := 380<<10, 400<<10
	for high-low > 1 { // find the largest that is not refused
		c.Outcome.Data = make([]byte, (low+high)/2)
		w.answer("UpdateItem", http.StatusBadRequest, refusal("ValidationException", "sent"))
		if _, err := s.Report(t.Context(), r.Claim(), c); strings.Contains(err.Error(), "sent") {
			low = len(c.Outcome.Data)
		} else {
			require.ErrorIs(t, err, dynamodb.ErrTooLarge)
			high = len(c.Outcome.Data)
		}
		w.on(nil)
	}
	c.Outcome.Data = make([]byte, low)
	_, err = s.Report(t.Context(), r.Claim(), c)
	require.NoError(t, err, "DynamoDB refused what the store let through")
	n := bytesOf(raw(t, s, q.Ref))
	require.LessOrEqual(t, n, 400<<10)
	require.Greater(t, n, 400<<10-256, "more than a bit of the space is wasted")
}

// A record that changes again and again does not grow, and says that it has forgotten.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	q, _ := typical()
	for range 80 {
		r := claim(t, s, q)
		_, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Release, Who: q.Who, Why: "connection refused"})
		require.NoError(t, err)
		q = again(q)
	}
	h, err := s.History(t.Context(), q.Ref)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(h), 40)
	require.LessOrEqual(t, len(h), 100)
	require.NotEmpty(t, h[0].From, "the sign that older changes are gone")
	for i, e := range h {
		n := len(h) - 1 - i // from the end
		fence := int64(80 - n/2)
		require.Equal(t, fence, e.Fence, i)
		require.Equal(t, int(fence), e.Attempt, i)
		require.Equal(t, q.WorkflowID, e.WorkflowID, i)
		require.Equal(t, q.RunID, e.RunID, i)
		require.Equal(t, 1, e.Generation, i)
		require.NotZero(t, e.Token, i)
		require.Equal(t, n%2 == 0, e.Verb == store.Release, i)
		require.Equal(t, map[bool]store.State{true: store.InFlight, false: store.Free}[n%2 == 0], e.From, i)
	}
	require.Less(t, bytesOf(raw(t, s, q.Ref)), 18<<10)

	// One line that is long takes the place of the others, and is there.
	r := claim(t, s, q)
	why := strings.Repeat("w", 50_000)
	_, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown, Why: why})
	require.NoError(t, err)
	h, err = s.History(t.Context(), q.Ref)
	require.NoError(t, err)
	require.Len(t, h, 1)
	require.Equal(t, why, h[0].Why)
	require.Equal(t, store.InFlight, h[0].From)
	require.Equal(t, r.Fence, h[0].Fence)
	require.Equal(t, r.Token, h[0].Token)
}

// Lines are JSON, for people who look at the table.
func TestLinesOfHistoryCanBeRead(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	q := request()
	r := claim(t, s, q)
	_, err := s.Report(t.Context(), r.Claim(), store.Change{Verb: store.Release, Why: "not UTF-8: \xff <&>"})
	require.NoError(t, err)
	lines := raw(t, s, q.Ref)["history"].(*types.AttributeValueMemberL).Value
	require.Len(t, lines, 2)
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[1].(*types.AttributeValueMemberS).Value), &line))
	require.Equal(t, "release", line["verb"])
	require.Equal(t, "not UTF-8: � <&>", line["why"])
	require.NotContains(t, line, "workflow", "it has not changed")
	require.Contains(t, lines[1].(*types.AttributeValueMemberS).Value, "<&>")
}

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	w, s := openOver(t, dynamodb.Options{})
	q := request()
	q.Operation = "\xff"
	_, err := s.Claim(t.Context(), q)
	require.ErrorIs(t, err, store.ErrInvalid)
	require.ErrorContains(t, err, "operation")
	require.Empty(t, w.asked())
}

func TestRootIsAFunctionOfTheKey(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	q := request()
	r := claim(t, s, q)
	q.Root[0]++
	_, err := s.Claim(t.Context(), again(q))
	require.ErrorIs(t, err, store.ErrInvalid)
	_, err = s.Get(t.Context(), q.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
	held := r.Claim()
	held.Ref = q.Ref
	lost, err := s.Renew(t.Context(), time.Hour, []store.Claim{held})
	require.NoError(t, err)
	require.Len(t, lost, 1)
}

func TestTimesFarAwayAreExact(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	const far = time.Duration(math.MaxInt64)
	q := request()
	q.Lease, q.Remaining, q.Retention = far-1000, far-3000, far-5000
	r := claim(t, s, q)
	require.Equal(t, q.First(r.Now), r)
	got, err := s.Get(t.Context(), q.Ref)
	require.NoError(t, err)
	got.Now = r.Now
	require.Equal(t, r, got)
	_, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.NoError(t, err)
	n, err := s.Expire(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, n)
}

// dynalite counts as DynamoDB does: so do we.
func TestSizesAreWhatTheServerCounts(t *testing.T) {
	t.Parallel()
	client := connect(t)
	s := open(t, client, dynamodb.Options{Table: table(t)})
	q, c := typical()
	r := claim(t, s, q)
	c.Outcome.Data = make([]byte, 100_000)
	_, err := s.Report(t.Context(), r.Claim(), c)
	require.NoError(t, err)
	name := s.Table()
	got, err := client.GetItem(t.Context(), &driver.GetItemInput{
		TableName: &name, Key: keyOf(q.Ref), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	require.NoError(t, err)
	n := bytesOf(got.Item)
	require.Equal(t, strconv.FormatFloat(math.Ceil(float64(n)/4096)/2, 'f', -1, 64),
		strconv.FormatFloat(*got.ConsumedCapacity.CapacityUnits, 'f', -1, 64))
}
