package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	driver "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

func keyOf(k key.Key) item { return item{keyName: &types.AttributeValueMemberS{Value: k.String()}} }

// find reads the record of a key, whatever its root, or returns [store.ErrNotFound].
func (s *Store) find(ctx context.Context, k key.Key) (row, error) {
	answer, err := s.client.GetItem(ctx, &driver.GetItemInput{
		TableName: &s.opts.Table, Key: keyOf(k), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return row{}, err
	}
	if len(answer.Item) == 0 {
		return row{}, store.ErrNotFound
	}
	return s.decode(answer.Item, s.now())
}

// read reads the record of a ref, or returns [store.ErrNotFound].
func (s *Store) read(ctx context.Context, ref store.Ref) (row, error) {
	r, err := s.find(ctx, ref.Key)
	if err == nil && r.Root != ref.Root {
		err = store.ErrNotFound
	}
	if err != nil {
		return row{}, err
	}
	return r, nil
}

// swap writes next over prev, in one conditional UpdateItem, if prev is still what is
// there: nothing, or an item of the same version. Otherwise it returns what is there
// now. A change without a verb leaves no line in the history.
func (s *Store) swap(ctx context.Context, prev row, next store.Record, verb store.Verb, who, why string) (now row, won bool, err error) {
	wrote := row{Record: own(next), version: newVersion(), history: prev.history}
	if verb != "" {
		entry := next.Log(prev.before(), verb, who, why)
		text := newLine(entry, prev.before(), wrote.version.id()).String()
		if wrote.history, err = shortened(next.Ref, append(slices.Clip(prev.history), text)); err != nil {
			return row{}, false, err
		}
	}
	wrote.item = wrote.encode()
	if err := wrote.item.fits(); err != nil {
		return row{}, false, err
	}
	if !wrote.Done() {
		// Known before it is there: who reads it in the meantime must count from the same moment.
		s.watched.put(wrote.version, next.Now)
	}
	_, err = s.client.UpdateItem(ctx, s.update(prev, wrote))
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
		if now, err = s.find(ctx, next.Key); err == nil && now.version != wrote.version && !now.wrote(wrote.version) {
			s.watched.drop(wrote.version) // nobody will ever see it
			s.held.drop(next.Key)
			return now, false, nil
		}
		// The client has sent it twice, and the first time it was done.
	}
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: it has been deleted", store.ErrCorrupt)
	}
	if err != nil {
		s.held.drop(next.Key)
		return row{}, false, err
	}
	s.watched.retire(prev.version) // not dropped: somebody may have read it a moment ago
	if wrote.State == store.InFlight {
		s.held.put(next.Key, wrote)
	} else {
		s.held.drop(next.Key)
	}
	return wrote, true, nil
}

// update says how prev becomes next: only what differs is sent, and what is not this
// package's stays.
func (s *Store) update(prev, next row) *driver.UpdateItemInput {
	names, values := map[string]string{"#key": keyName}, item{}
	var sets, removes []string
	for n, name := range slices.Sorted(maps.Keys(next.item)) {
		if name == keyName || reflect.DeepEqual(prev.item[name], next.item[name]) {
			continue
		}
		as := fmt.Sprint(n)
		names["#"+as], values[":"+as] = name, next.item[name]
		sets = append(sets, fmt.Sprintf("#%s = :%s", as, as))
	}
	was := item{}
	if prev.there() {
		was = prev.encode()
	}
	for n, name := range slices.Sorted(maps.Keys(was)) {
		if _, stays := next.item[name]; stays {
			continue
		}
		as := fmt.Sprint("r", n)
		names["#"+as] = name
		removes = append(removes, "#"+as)
	}
	expression := "SET " + strings.Join(sets, ", ")
	if len(removes) > 0 {
		expression += " REMOVE " + strings.Join(removes, ", ")
	}
	condition := "attribute_not_exists(#key)"
	if prev.there() {
		delete(names, "#key")
		names["#version"], values[":version"] = "version", prev.item["version"]
		condition = "#version = :version"
	}
	return &driver.UpdateItemInput{
		TableName: &s.opts.Table, Key: keyOf(next.Key), UpdateExpression: &expression, ConditionExpression: &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
}
