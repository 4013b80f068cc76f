package dynamodb

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/effectonce/effectonce/store"
)

// maxItemBytes is DynamoDB's limit, names and values together.
const maxItemBytes = 400 << 10

// item is what DynamoDB keeps of a record. What is zero is left out.
type item map[string]types.AttributeValue

func (i item) text(name, v string) {
	if v != "" {
		i[name] = &types.AttributeValueMemberS{Value: v}
	}
}

func (i item) bytes(name string, v []byte) {
	if len(v) != 0 {
		i[name] = &types.AttributeValueMemberB{Value: v}
	}
}

func (i item) digest(name string, v []byte) {
	if !zero(v) {
		i.bytes(name, v)
	}
}

func (i item) int(name string, v int64) {
	if v != 0 {
		i.number(name, v)
	}
}

func (i item) number(name string, v int64) {
	i[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

// at keeps a moment by the clock of the host.
func (i item) at(name string, t time.Time) {
	if !t.IsZero() {
		i.number(name, t.UnixMicro())
	}
}

// after keeps how long after the writing of the item a moment is.
func (i item) after(name string, t, written time.Time) {
	if !t.IsZero() {
		i.number(name, t.Sub(written).Microseconds())
	}
}

// size is at least what DynamoDB says that the item has, in bytes.
func (i item) size() (n int) {
	for name, value := range i {
		n += len(name) + size(value)
	}
	return n
}

func size(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value) + 2 // DynamoDB takes about half of it
	case *types.AttributeValueMemberL:
		n := 3
		for _, e := range v.Value {
			n += 1 + size(e)
		}
		return n
	}
	return 0
}

// fits refuses what DynamoDB would refuse, or change.
func (i item) fits() error {
	for name, value := range i {
		if s, ok := value.(*types.AttributeValueMemberS); ok && !utf8.ValidString(s.Value) {
			return fmt.Errorf("%w: the text of %s is not UTF-8", store.ErrInvalid, name)
		}
	}
	if n := i.size(); n > maxItemBytes {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, maxItemBytes)
	}
	return nil
}

// reader reads an item, and keeps the first thing that is wrong with it.
type reader struct {
	item
	wrong error
}

var errKind = errors.New("of another type")

func (r *reader) check(name string, err error) {
	if err != nil && r.wrong == nil {
		r.wrong = fmt.Errorf("attribute %s: %w", name, err)
	}
}

func read[T types.AttributeValue](r *reader, name string) (v T, ok bool) {
	value, there := r.item[name]
	if !there {
		return v, false
	}
	if v, ok = value.(T); !ok {
		r.check(name, errKind)
	}
	return v, ok
}

func (r *reader) text(name string) string {
	if v, ok := read[*types.AttributeValueMemberS](r, name); ok {
		return v.Value
	}
	return ""
}

func (r *reader) bytes(name string) []byte {
	if v, ok := read[*types.AttributeValueMemberB](r, name); ok && len(v.Value) > 0 {
		return v.Value
	}
	return nil
}

func (r *reader) digest(name string, into []byte) {
	v, ok := read[*types.AttributeValueMemberB](r, name)
	if ok && (len(v.Value) != len(into) || zero(v.Value)) {
		r.check(name, errors.New("wrong length, or zero"))
		return
	}
	if ok {
		copy(into, v.Value)
	}
}

func (r *reader) int(name string) int64 {
	v, ok := read[*types.AttributeValueMemberN](r, name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	r.check(name, err)
	return n
}

func (r *reader) at(name string) time.Time {
	if _, ok := r.item[name]; !ok {
		return time.Time{}
	}
	return time.UnixMicro(r.int(name)).UTC()
}

func (r *reader) after(name string, seen time.Time) time.Time {
	if _, ok := r.item[name]; !ok {
		return time.Time{}
	}
	return seen.Add(time.Duration(r.int(name)) * time.Microsecond)
}

func (r *reader) texts(name string) (all []string) {
	v, ok := read[*types.AttributeValueMemberL](r, name)
	if !ok {
		return nil
	}
	for _, e := range v.Value {
		line, ok := e.(*types.AttributeValueMemberS)
		if !ok {
			r.check(name, errKind)
			return nil
		}
		all = append(all, line.Value)
	}
	return all
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
