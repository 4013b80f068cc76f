package dynamodb_test

import (
	"testing"
	"time"

	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/effectonce/effectonce/store"
	"github.com/effectonce/effectonce/store/dynamodb"
)

// edit changes an item as somebody at a console would.
func edit(t *testing.T, s *dynamodb.Store, ref store.Ref, change func(map[string]types.AttributeValue)) {
	t.Helper()
	item := raw(t, s, ref)
	change(item)
	name := s.Table()
	_, err := connect(t).PutItem(t.Context(), &driver.PutItemInput{TableName: &name, Item: item})
	require.NoError(t, err)
}

func TestItemThatMakesNoSenseIsCorruptAndNeverMissing(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	number := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	bytes := func(v ...byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: v} }
	for what, change := range map[string]func(map[string]types.AttributeValue){
		"no version":        func(i map[string]types.AttributeValue) { delete(i, "version") },
		"short version":     func(i map[string]types.AttributeValue) { i["version"] = bytes(1) },
		"no state":          func(i map[string]types.AttributeValue) { delete(i, "state") },
		"another state":     func(i map[string]types.AttributeValue) { i["state"] = text("done") },
		"no lease":          func(i map[string]types.AttributeValue) { delete(i, "lease") },
		"no fence":          func(i map[string]types.AttributeValue) { delete(i, "fence") },
		"half a fence":      func(i map[string]types.AttributeValue) { i["fence"] = number("1.5") },
		"no generation":     func(i map[string]types.AttributeValue) { delete(i, "generation") },
		"never created":     func(i map[string]types.AttributeValue) { delete(i, "created") },
		"text for a number": func(i map[string]types.AttributeValue) { i["attempt"] = text("1") },
		"number for a text": func(i map[string]types.AttributeValue) { i["operation"] = number("1") },
		"short token":       func(i map[string]types.AttributeValue) { i["token"] = bytes(1, 2) },
		"zero fingerprint":  func(i map[string]types.AttributeValue) { i["fingerprint"] = bytes(make([]byte, 32)...) },
		"early outcome":     func(i map[string]types.AttributeValue) { i["format"] = text("text") },
		"finished":          func(i map[string]types.AttributeValue) { i["finished"] = number("1") },
		"numbers as lines": func(i map[string]types.AttributeValue) {
			i["history"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{number("1")}}
		},
	} {
		q := request()
		r := claim(t, s, q)
		edit(t, s, q.Ref, change)
		_, err := s.Get(t.Context(), q.Ref)
		require.ErrorIs(t, err, store.ErrCorrupt, what)
		_, err = s.Claim(t.Context(), again(q))
		require.ErrorIs(t, err, store.ErrCorrupt, what)
		other := open(t, connect(t), dynamodb.Options{Table: s.Table()}) // which remembers nothing
		_, err = other.Report(t.Context(), r.Claim(), done("x"))
		require.ErrorIs(t, err, store.ErrCorrupt, what)
	}
	_, err := s.List(t.Context(), store.Filter{})
	require.ErrorIs(t, err, store.ErrCorrupt)
}

func TestHistoryThatCannotBeReadIsCorrupt(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	for _, line := range []string{"", "{", `{"token":"?"}`, `{"token":"AA"}`} {
		r := claim(t, s, request())
		edit(t, s, r.Ref, func(i map[string]types.AttributeValue) {
			i["history"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: line}}}
		})
		_, err := s.History(t.Context(), r.Ref)
		require.ErrorIs(t, err, store.ErrCorrupt, line)
		_, err = s.Get(t.Context(), r.Ref)
		require.NoError(t, err, "the record itself can be read")
	}
}

// Housekeeping goes on with the others.
func TestOneCorruptItemDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	clock := time.Now().UTC()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)}.WithClock(func() time.Time { return clock }))
	for i := range 4 {
		q := request()
		q.Retention = time.Minute
		r := claim(t, s, q)
		_, err := s.Report(t.Context(), r.Claim(), done("x"))
		require.NoError(t, err)
		r = claim(t, s, request())
		if i == 0 {
			for _, ref := range []store.Ref{q.Ref, r.Ref} {
				edit(t, s, ref, func(i map[string]types.AttributeValue) { delete(i, "fence") })
			}
		}
	}
	clock = clock.Add(2 * time.Hour)
	n, err := s.Sweep(t.Context(), 10)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Equal(t, 3, n)
	n, err = s.Expire(t.Context(), 10)
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Equal(t, 3, n)
}

// Deleting an item is undoing an action, and nobody here does that.
func TestItemThatWasDeletedIsMissedByItsOwner(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	r := claim(t, s, request())
	name := s.Table()
	_, err := connect(t).DeleteItem(t.Context(), &driver.DeleteItemInput{TableName: &name, Key: keyOf(r.Ref)})
	require.NoError(t, err)
	_, err = s.Report(t.Context(), r.Claim(), done("x"))
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = s.Get(t.Context(), r.Ref)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// Attributes of somebody's own stay as they are.
func TestOtherAttributesStay(t *testing.T) {
	t.Parallel()
	s := open(t, connect(t), dynamodb.Options{Table: table(t)})
	r := claim(t, s, request())
	edit(t, s, r.Ref, func(i map[string]types.AttributeValue) { i["note"] = &types.AttributeValueMemberS{Value: "ask Ann"} })
	other := open(t, connect(t), dynamodb.Options{Table: s.Table()})
	for _, s := range []*dynamodb.Store{other, s} {
		var err error
		r, err = s.Report(t.Context(), r.Claim(), store.Change{Verb: store.MarkUnknown})
		require.NoError(t, err)
	}
	require.Equal(t, &types.AttributeValueMemberS{Value: "ask Ann"}, raw(t, s, r.Ref)["note"])
}
